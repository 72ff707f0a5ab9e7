import { vectors } from './vectors';

export default { title: 'Hazards/Fence' };

const PATIENCE_MS = 2000;

const tried = async (attempt) => {
  const patience = new Promise((done) => setTimeout(done, PATIENCE_MS, 'no answer'));
  try {
    return await Promise.race([attempt(), patience]);
  } catch {
    return 'refused';
  }
};

/** The address to try stands in fence.json beside the build, so that a test can name its own. */
const tryEverything = async () => {
  const own = await fetch('./fence.json');
  const { host, port } = await own.json();
  const attempts = Object.entries(vectors(host, port));
  const outcomes = await Promise.all(
    attempts.map(async ([name, attempt]) => [name, await tried(attempt)]),
  );
  return { outcomes: [['own origin', own.ok ? 'answered' : 'refused'], ...outcomes] };
};

export const TriesEveryWayOut = {
  loaders: [tryEverything],
  render: (_args, { loaded }) => (
    <table id="fence">
      <tbody>
        {loaded.outcomes.map(([name, outcome]) => (
          <tr key={name} data-vector={name} data-outcome={outcome}>
            <td>{name}</td>
            <td>{outcome}</td>
          </tr>
        ))}
      </tbody>
    </table>
  ),
};
