export default { title: 'Hazards/Chance' };

const Lines = ({ of }) => (
  <pre>
    {Object.entries(of)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')}
  </pre>
);

export const Clock = {
  render: () => (
    <Lines
      of={{
        now: Date.now(),
        date: new Date().toISOString(),
        called: Date(),
        local: new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' }).format(),
        zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        language: navigator.language,
      }}
    />
  ),
};

export const Random = {
  render: () => (
    <Lines
      of={{
        first: Math.random(),
        second: Math.random(),
        uuid: crypto.randomUUID?.(),
        bytes: crypto.getRandomValues(new Uint8Array(6)),
      }}
    />
  ),
};
