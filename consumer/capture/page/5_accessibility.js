// What is not accessible in a story: what Storybook's own addon reported of it, cut to bounds. The same
// file runs axe in a world beside the page's: same elements, but none of the page's scripts can be met.
const accessibility = (() => {
  const MAX_TEXT = 500;
  const MAX_RULES = 60; // as consumer.examined has them
  const MAX_PLACES = 200;
  const OWN = [".sb-wrapper", "#storybook-docs[hidden]", "#storybook-highlights-root"]; // Storybook's
  const NOT_OF_STORIES = { region: { enabled: false } }; // landmarks are a page's affair
  let noted; // { id, result } of the addon

  const list = (value) => (Array.isArray(value) ? value : []);
  const text = (value) => (typeof value === "string" ? value : "").slice(0, MAX_TEXT);
  // A step of a path into frames may itself be a path, into shadow roots.
  const target = (path) => text(list(path).slice(0, 10)
    .map((step) => list(step).length ? step.slice(0, 10).map(text).join(" >>> ") : text(step)).join(" | "));
  const cut = (result) => {
    let left = MAX_PLACES;
    let leftOut = 0;
    const violations = [];
    for (const each of list(result?.violations)) {
      const nodes = list(each?.nodes);
      const kept = violations.length < MAX_RULES ? nodes.slice(0, left) : [];
      left -= kept.length;
      leftOut += nodes.length - kept.length;
      if (!kept.length) continue;
      violations.push({
        rule: text(each.id), impact: text(each.impact), help: text(each.help), helpUrl: text(each.helpUrl),
        places: kept.map((node) => ({
          target: target(node?.target), html: text(node?.html), summary: text(node?.failureSummary),
        })),
      });
    }
    const problem = result?.error === undefined ? "" : text(String(result.error?.message ?? result.error));
    return { engine: text(result?.testEngine?.version), violations, leftOut, problem };
  };

  return {
    // What the addon of Storybook 8.6 and later says once a story has ended.
    note(id, reporters) {
      const report = list(reporters).find((each) => each?.type === "a11y" && each.result);
      noted = report && { id, result: report.result };
    },
    take(id) {
      const found = noted && noted.id === id ? cut(noted.result) : null;
      noted = undefined;
      return found;
    },
    // As the addon would run it, besides what cannot be reached or would ask for something.
    async run(axe, { rules = [], switched = {}, runOnly, include, exclude = [] }) {
      axe.reset();
      axe.configure({ rules });
      const off = Object.fromEntries(rules.filter((each) => each.enabled === false)
        .map(({ id }) => [id, { enabled: false }]));
      const asked = Object.fromEntries(Object.entries(switched).map(([id, enabled]) => [id, { enabled }]));
      const isWanted = rules.some(({ id, enabled }) => id === "region" && enabled === true);
      const result = await axe.run(
        { include: include ?? [document.body], exclude: [...OWN, ...exclude] },
        {
          ...(runOnly ? { runOnly } : {}),
          rules: { ...(isWanted ? {} : NOT_OF_STORIES), ...off, ...asked },
          resultTypes: ["violations"],
          preload: false,
          iframes: false,
        },
      );
      return cut(result);
    },
  };
})();
