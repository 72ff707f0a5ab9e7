/**
 * Every road out of the page that we know, each tried against one address.
 *
 * A vector resolves to what the page could see; some can see nothing, so the receiver counts.
 */
const eventOf = (target, good, bad) =>
  new Promise((done) => {
    target.addEventListener(good, () => done('answered'));
    target.addEventListener(bad, () => done('refused'));
  });

const element = (tag, properties, outcome) => {
  const node = Object.assign(document.createElement(tag), properties);
  const seen = outcome ?? eventOf(node, 'load', 'error');
  node.style.display = 'none';
  document.head.append(node);
  return seen;
};

const answered = (promise) => promise.then(() => 'answered', () => 'refused');

const inWorker = (url) => {
  const source = `fetch(${JSON.stringify(url)}, { mode: 'no-cors' })
    .then(() => postMessage('answered'), () => postMessage('refused'))`;
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  return new Promise((done) => {
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = () => done('refused');
  });
};

const overXhr = (url) => {
  const request = new XMLHttpRequest();
  request.open('GET', url);
  request.send();
  return eventOf(request, 'load', 'error');
};

const postedForm = (url) => {
  const frame = Object.assign(document.createElement('iframe'), { name: 'form-target', hidden: true });
  const form = Object.assign(document.createElement('form'), { action: url, method: 'post' });
  form.target = frame.name;
  document.head.append(frame, form);
  form.submit();
  return 'tried';
};

const ping = (url) => {
  const link = Object.assign(document.createElement('a'), { href: '#pinged', ping: url });
  document.body.append(link);
  link.click();
  link.remove();
  return 'tried';
};

const stun = async (host, port) => {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:${host}:${port}` }] });
  peer.createDataChannel('out');
  await peer.setLocalDescription(await peer.createOffer());
  return 'tried';
};

const styleSheet = (text) => {
  const sheet = Object.assign(document.createElement('style'), { textContent: text });
  document.head.append(sheet);
  return 'tried';
};

export const vectors = (host, port) => {
  const to = (name) => `http://${host}:${port}/${name}`;
  return {
    fetch: () => answered(fetch(to('fetch'))),
    'fetch-no-cors': () => answered(fetch(to('fetch-no-cors'), { mode: 'no-cors' })),
    'fetch-keepalive': () => answered(fetch(to('fetch-keepalive'), { mode: 'no-cors', keepalive: true })),
    xhr: () => overXhr(to('xhr')),
    image: () => element('img', { src: to('image') }),
    script: () => element('script', { src: to('script') }),
    prefetch: () => element('link', { rel: 'prefetch', href: to('prefetch') }, 'tried'),
    preconnect: () => element('link', { rel: 'preconnect', href: to('preconnect') }, 'tried'),
    stylesheet: () => element('link', { rel: 'stylesheet', href: to('stylesheet') }),
    'css-import': () => styleSheet(`@import url(${to('css-import')})`),
    font: () => answered(new FontFace('Outside', `url(${to('font')})`).load()),
    frame: () => element('iframe', { src: to('frame') }, 'tried'),
    form: () => postedForm(to('form')),
    beacon: () => (navigator.sendBeacon(to('beacon'), 'x'), 'tried'),
    ping: () => ping(to('ping')),
    worker: () => inWorker(to('worker')),
    'event-source': () => eventOf(new EventSource(to('event-source')), 'open', 'error'),
    'web-socket': () => eventOf(new WebSocket(`ws://${host}:${port}/web-socket`), 'open', 'error'),
    'web-transport': () =>
      globalThis.WebTransport
        ? answered(new WebTransport(`https://${host}:${port}/web-transport`).ready)
        : 'refused',
    stun: () => stun(host, port),
  };
};
