// Answers for a server that is not there, as mocking libraries do.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (new URL(event.request.url).pathname.endsWith('/mocked/answer.json')) {
    event.respondWith(Response.json({ good: true }));
  }
});
