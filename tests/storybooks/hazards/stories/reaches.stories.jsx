import { useEffect, useState } from 'react';

import { Afterwards, Swatch } from './parts';

export default { title: 'Hazards/Reaches' };

const controlledBy = async (script) => {
  await navigator.serviceWorker.register(script);
  if (navigator.serviceWorker.controller) return;
  await new Promise((done) => navigator.serviceWorker.addEventListener('controllerchange', done));
};

const Until = ({ open }) => {
  const [good, setGood] = useState(false);
  useEffect(() => open(() => setGood(true)), [open]);
  return <Swatch good={good} />;
};

const stream = (turnGood) => {
  const source = new EventSource('./stream?hold=stream');
  source.onmessage = turnGood;
  return () => source.close();
};

/** Says one thing, and stays open. */
export const EventStream = {
  loaders: [() => controlledBy('./hold.js')],
  render: () => <Until open={stream} />,
};

const longPoll = () => {
  const asking = new AbortController();
  fetch('./fence.json?hold=never', { signal: asking.signal }).catch(() => {});
  return () => asking.abort();
};

export const LongPoll = {
  loaders: [() => controlledBy('./hold.js')],
  render: () => <Afterwards act={longPoll} />,
};

/** Where no server takes it, a socket is tried again and again. */
const reconnecting = () => {
  let timer;
  let socket;
  const connect = () => {
    socket = new WebSocket(`ws://${location.host}/socket`);
    socket.onclose = () => {
      timer = setTimeout(connect, 100);
    };
  };
  connect();
  return () => {
    socket.onclose = null;
    socket.close();
    clearTimeout(timer);
  };
};

export const SocketThatReconnects = { render: () => <Afterwards act={reconnecting} /> };

const mocked = async () => {
  const answer = await fetch('./mocked/answer.json');
  return { good: answer.ok && (await answer.json()).good };
};

const Answered = { render: (_args, { loaded }) => <Swatch good={loaded.good} /> };

/** A service worker of the story answers, as mocking libraries do it. */
export const Mocked = {
  ...Answered,
  loaders: [() => controlledBy('./mocks.js').then(mocked)],
};

/** Some reload the page so that their worker has it from the start. */
const reloadUnderTheWorker = async () => {
  await navigator.serviceWorker.register('./mocks.js');
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) {
    location.reload();
    await new Promise(() => {});
  }
};

export const MockedAfterAReload = {
  ...Answered,
  loaders: [() => reloadUnderTheWorker().then(mocked)],
};
