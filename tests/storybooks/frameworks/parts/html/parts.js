const element = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

const swatch = () => element('div', { className: 'swatch' });

/** What a loader brought wins over the args. */
const textOf = ({ text }, { loaded }) => loaded?.text ?? text;

const counter = () => {
  const button = element('button', { textContent: 'clicked 0' });
  let clicks = 0;
  button.addEventListener('click', () => {
    clicks += 1;
    button.textContent = `clicked ${clicks}`;
  });
  return button;
};

/** There is no unmounting here: what it appends stays behind. */
const portal = () => {
  document.body.append(element('div', { className: 'marker portal', textContent: 'on the body' }));
  return element('span');
};

const faulty = () => {
  throw new Error('the render fault was not caught');
};

const faultyAfterwards = () => {
  setTimeout(() => {
    throw new Error('the effect fault was not caught');
  });
  return swatch();
};

export const drawn = {
  swatch,
  label: (args, context) => element('p', { className: 'marker', textContent: textOf(args, context) }),
  counter,
  faulty,
  faultyAfterwards,
  nothing: () => element('div'),
  entrance: () => element('div', { className: 'swatch entering' }),
  portal,
};
