import caveatUrl from '@fontsource-variable/caveat/files/caveat-latin-wght-normal.woff2?url';
import { useEffect, useLayoutEffect, useState } from 'react';

import { Swatch, TurnsGood } from './parts';

export default { title: 'Hazards/Late' };

/** Lets the build's own service worker hold answers back; without one they come at once. */
const holdAnswers = async () => {
  await navigator.serviceWorker?.register('./hold.js');
  if (!navigator.serviceWorker || navigator.serviceWorker.controller) return;
  await Promise.race([
    new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done)),
    new Promise((done) => setTimeout(done, 2000)),
  ]);
};
const holding = { loaders: [() => holdAnswers().catch(() => {})] };

const Lettered = ({ url }) => {
  useLayoutEffect(() => {
    const face = new FontFace('Late', `url(${url})`);
    document.fonts.add(face);
    face.load().catch(() => {});
    return () => void document.fonts.delete(face);
  }, [url]);
  return <h1 style={{ font: '48px/1.2 Late, monospace', width: 600 }}>The letter came late</h1>;
};

const Pictured = ({ src }) => <img src={src} alt="" width="120" height="80" />;

export const FontOnTime = { render: () => <Lettered url={caveatUrl} /> };

export const FontAfterAWhile = { ...holding, render: () => <Lettered url={`${caveatUrl}?hold=1500`} /> };

export const FontThatNeverAnswers = {
  ...holding,
  render: () => <Lettered url={`${caveatUrl}?hold=never`} />,
};

export const FontThatIsMissing = { render: () => <Lettered url="./no-such-font.woff2" /> };

const swapped = `@font-face { font-family: Swapped; src: url(${caveatUrl}?hold=700); font-display: swap }`;

/** The words are there in another font until theirs has come. */
export const FontThatIsSwappedIn = {
  ...holding,
  render: () => (
    <>
      <style>{swapped}</style>
      <h1 style={{ font: '48px/1.2 Swapped, monospace', width: 600 }}>The letter came late</h1>
    </>
  ),
};

export const ImageOnTime = { render: () => <Pictured src="./plate.svg" /> };

export const ImageAfterAWhile = { ...holding, render: () => <Pictured src="./plate.svg?hold=900" /> };

export const ImageThatNeverAnswers = {
  ...holding,
  render: () => <Pictured src="./plate.svg?hold=never" />,
};

export const ImageThatIsMissing = { render: () => <Pictured src="./no-such-image.png" /> };

export const StylesheetThatIsMissing = {
  render: () => (
    <>
      <link rel="stylesheet" href="./no-such-style.css" />
      <Swatch />
    </>
  ),
};

const fetchThenTurn = (turnGood) => {
  const asking = new AbortController();
  fetch('./fence.json?hold=600', { signal: asking.signal }).then(turnGood, () => {});
  return () => asking.abort();
};

export const DataAfterAWhile = { ...holding, render: () => <TurnsGood trigger={fetchThenTurn} /> };

const Polling = () => {
  const [answers, setAnswers] = useState(0);
  useEffect(() => {
    const ask = () => fetch('./fence.json').then(() => setAnswers((count) => count + 1));
    const timer = setInterval(ask, 300);
    return () => clearInterval(timer);
  }, []);
  return <Swatch good={answers >= 0} />;
};

export const Polls = { render: () => <Polling /> };
