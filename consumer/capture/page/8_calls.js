// Calls between browsers ask no proxy and break no policy that reports: their servers are told here.
(() => {
  const Real = window.RTCPeerConnection;
  if (!Real) return;
  const ask = window.fetch.bind(window);
  const MAX_SERVERS = 10; // of one call
  const addresses = (configuration) => Array.from(configuration?.iceServers ?? [])
    .flatMap((server) => server?.urls ?? []).slice(0, MAX_SERVERS)
    .map((url) => String(url).slice(0, 300).replace(/^(stuns?|turns?):/i, "$1://"));
  const tell = (configuration) => {
    for (const url of addresses(configuration)) {
      const report = { "blocked-uri": url, "document-uri": location.href };
      const told = ask("/-/refused", { method: "POST", body: JSON.stringify({ "csp-report": report }) });
      told.catch(() => {});
    }
  };
  const Told = new Proxy(Real, {
    construct(target, args, asked) {
      try { tell(args[0]); } catch { /* what cannot be read, the real one refuses */ }
      return Reflect.construct(target, args, asked === Told ? target : asked);
    },
  });
  Real.prototype.constructor = Told;
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) {
    if (name in window) window[name] = Told;
  }
})();
