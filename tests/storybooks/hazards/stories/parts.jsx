import { useEffect, useState } from 'react';

/** A coloured box that a test can look for in the picture: green is right, red is too early. */
export const Swatch = ({ good = true }) => <div className="swatch" data-good={good} />;

/** Does something once the story stands; `act` may hand back how to undo it. */
export const Afterwards = ({ act, children = 'standing' }) => {
  useEffect(() => act(), [act]);
  return <p>{children}</p>;
};

/** Shows red until `trigger(turnGood)` calls back. */
export const TurnsGood = ({ trigger }) => {
  const [good, setGood] = useState(false);
  useEffect(() => trigger(() => setGood(true)), [trigger]);
  return <Swatch good={good} />;
};
