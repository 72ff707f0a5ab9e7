export default { title: 'Hazards/Frames' };

const page = (body) => `<!doctype html><body style="margin: 0">${body}</body>`;
const plate = '<img src="./plate.svg" width="120" height="80">';

const Framed = ({ height = 120, ...of }) => <iframe title="framed" width="240" height={height} {...of} />;

export const OfTheSameOrigin = { render: () => <Framed src="./framed.html" /> };

/** The frame ends far below the fold, and so does what it shows. */
export const TallAndBelowTheFold = {
  render: () => (
    <>
      <div style={{ width: 200, height: 1500, background: '#e8eef8' }} />
      <Framed height="900" srcDoc={page(`<div style="height: 780px"></div>${plate}`)} />
    </>
  ),
};

export const Lazy = {
  render: () => (
    <>
      <div style={{ width: 200, height: 3000, background: '#e8eef8' }} />
      <Framed loading="lazy" src="./framed.html" />
    </>
  ),
};

export const Nested = {
  render: () => <Framed srcDoc={page('<iframe src="./framed.html" width="200" height="100"></iframe>')} />,
};

export const Missing = { render: () => <Framed src="./no-such-page.html" /> };

export const OfAnotherOrigin = { render: () => <Framed src="http://elsewhere.invalid/" /> };

export const MovesInside = { render: () => <Framed src="./moving.html" /> };
