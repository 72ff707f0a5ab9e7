// Holds back what is asked for with ?hold=MILLISECONDS, or for ever with ?hold=never. A static
// server cannot be slow, so the build brings its own slowness along.
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

const stream = () => {
  const body = new ReadableStream({
    start: (lines) => lines.enqueue(new TextEncoder().encode('data: one\n\n')),
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
};

const answerLate = async (url, hold) => {
  if (hold === 'never') return new Promise(() => {});
  if (hold === 'stream') return stream();
  await wait(Number(hold));
  url.searchParams.delete('hold');
  return fetch(url);
};

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  const hold = url.searchParams.get('hold');
  if (hold !== null) event.respondWith(answerLate(url, hold));
});
