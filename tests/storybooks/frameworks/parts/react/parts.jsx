import React, { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';

const Swatch = ({ className = '' }) => <div className={`swatch ${className}`.trim()} />;

const Counter = () => {
  const [clicks, setClicks] = useState(0);
  return <button onClick={() => setClicks(clicks + 1)}>clicked {clicks}</button>;
};

const Faulty = () => {
  throw new Error('the render fault was not caught');
};

const FaultyAfterwards = () => {
  useEffect(() => {
    throw new Error('the effect fault was not caught');
  }, []);
  return <Swatch />;
};

const OnTheBody = () => createPortal(<div className="marker portal">on the body</div>, document.body);

export const drawn = {
  swatch: () => <Swatch />,
  label: ({ text }, { loaded }) => <p className="marker">{loaded?.text ?? text}</p>,
  counter: () => <Counter />,
  faulty: () => <Faulty />,
  faultyAfterwards: () => <FaultyAfterwards />,
  nothing: () => null,
  entrance: () => <Swatch className="entering" />,
  portal: () => <OnTheBody />,
};
