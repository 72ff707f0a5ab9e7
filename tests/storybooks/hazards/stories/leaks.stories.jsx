import { useEffect, useState } from 'react';

import { Afterwards } from './parts';

export default { title: 'Hazards/Leaks' };

/** Leaves something behind that no unmounting takes away. */
const leaving = (leave) => ({ render: () => <Afterwards act={() => void leave()} /> });

const spoil = (node) => {
  if (node.style) node.style.background = '#d81e3f';
};

export const AGlobal = leaving(() => {
  globalThis.leftBehind = true;
});

export const AnInterval = leaving(() => {
  setInterval(() => document.querySelectorAll('.swatch').forEach(spoil), 20);
});

export const AClassOnTheBody = leaving(() => document.body.classList.add('left-behind'));

export const AnAttributeOfTheBody = leaving(() => document.body.setAttribute('style', 'zoom: 2'));

export const AnAttributeOfTheDocument = leaving(() => {
  document.documentElement.style.fontSize = '40px';
  document.documentElement.dataset.leftBehind = 'yes';
});

export const APortal = leaving(() => {
  const left = document.createElement('div');
  Object.assign(left, { className: 'marker', textContent: 'left behind' });
  document.body.append(left);
});

export const AStyleSheet = leaving(() => {
  const sheet = document.createElement('style');
  sheet.textContent = '.swatch { outline: 9px solid #d81e3f }';
  document.head.append(sheet);
});

export const AnAdoptedStyleSheet = leaving(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('.swatch { outline: 9px solid #d81e3f }');
  document.adoptedStyleSheets.push(sheet);
});

export const AnObserver = leaving(() => {
  const spoilAll = () => document.querySelectorAll('.swatch').forEach(spoil);
  new MutationObserver(spoilAll).observe(document.body, { childList: true, subtree: true });
});

export const AListener = leaving(() => {
  addEventListener('resize', () => document.querySelectorAll('.swatch').forEach(spoil));
});

export const APrototype = leaving(() => {
  const upper = String.prototype.toUpperCase;
  String.prototype.trim = upper;
});

export const SomethingStored = leaving(() => {
  localStorage.setItem('left', 'behind');
  sessionStorage.setItem('left', 'behind');
  document.cookie = 'left=behind';
});

export const AScrollPosition = {
  render: () => (
    <>
      <Afterwards act={() => void scrollTo(0, 900)} />
      <div style={{ width: 100, height: 3000, background: '#e8eef8' }} />
    </>
  ),
};

export const ATitleAndALanguage = leaving(() => {
  document.title = 'left behind';
  document.documentElement.lang = 'ja';
  document.documentElement.dir = 'rtl';
});

export const AStateOfTheHistory = leaving(() => {
  history.pushState({}, '', '?left=behind#there');
});

export const AFalseMatchMedia = leaving(() => {
  globalThis.matchMedia = () => ({ matches: true, addEventListener() {}, removeEventListener() {} });
});

/** Fake timers that nobody takes out again: nothing that is put off ever happens. */
export const FakeTimers = leaving(() => {
  for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame']) globalThis[name] = () => 0;
  globalThis.Date = class extends Date {
    constructor() {
      super(0);
    }
    static now = () => 0;
  };
  performance.now = () => 0;
});

export const AFocus = leaving(() => {
  const field = document.createElement('input');
  document.body.append(field);
  field.focus();
});

const found = () => ({
  global: String(globalThis.leftBehind),
  prototype: ' as it was '.trim(),
  stored: `${localStorage.left} ${sessionStorage.left} ${document.cookie}`,
  scrolled: scrollY,
  language: `${document.documentElement.lang} ${document.documentElement.dir}`,
  wide: matchMedia('(min-width: 100000px)').matches,
  year: new Date().getFullYear(),
});

const Victim = () => {
  const [waited, setWaited] = useState('not yet');
  const [size] = useState(() => getComputedStyle(document.body).zoom);
  useEffect(() => {
    const timer = setTimeout(() => setWaited('yes'), 0);
    return () => clearTimeout(timer);
  }, []);
  if (globalThis.leftBehind) throw new Error('the story before is in my way');
  const lines = { ...found(), zoom: size, waited };
  return (
    <>
      <div className="swatch" data-good />
      <pre style={{ fontSize: '1rem' }}>
        {Object.entries(lines).map(([name, value]) => `${name}: ${value}\n`)}
      </pre>
    </>
  );
};

/** Shows whatever of the page a story before it could have changed. */
export const After = { render: () => <Victim /> };
