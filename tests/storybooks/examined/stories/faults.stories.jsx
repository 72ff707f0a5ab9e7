/** The same two faults in every story; what is asked of the accessibility addon differs. */
const Faulty = () => (
  <div>
    <img src="data:," className="logo" width="20" height="20" />
    <p style={{ color: '#bbb', background: '#fff' }}>faint</p>
  </div>
);

export default { title: 'Faults', component: Faulty };

export const Plain = {};
export const Manual = { globals: { a11y: { manual: true } } };
export const Off = { parameters: { a11y: { test: 'off' } } };
export const Strict = { parameters: { a11y: { test: 'error' } } };
export const Chosen = {
  globals: { a11y: { manual: true } },
  parameters: {
    a11y: {
      config: { rules: [{ id: 'image-alt', enabled: false }] },
      options: { rules: { 'color-contrast': { enabled: true } } },
      context: { include: ['body'], exclude: ['.nowhere', document.createElement('p')] },
    },
  },
};
