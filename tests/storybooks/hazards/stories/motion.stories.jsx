import { useEffect, useRef } from 'react';

export default { title: 'Hazards/Motion' };

const spin = '@keyframes spin { to { transform: rotate(1turn) } }';
const enter = '@keyframes enter { from { transform: translateX(200px); opacity: 0 } }';

const Box = ({ animation, keyframes = '' }) => (
  <div style={{ width: 400, height: 80 }}>
    <style>{keyframes}</style>
    <div style={{ width: 80, height: 80, background: '#14a44d', animation }} />
  </div>
);

export const EndlessCss = {
  render: () => <Box keyframes={spin} animation="spin 700ms linear infinite" />,
};

export const EntranceCss = { render: () => <Box keyframes={enter} animation="enter 400ms ease" /> };

/** What an entrance looks like once it is over. */
export const EntranceOver = { render: () => <Box keyframes={enter} /> };

export const EntrancePausedAtStart = {
  parameters: { chromatic: { pauseAnimationAtEnd: false } },
  render: () => <Box keyframes={enter} animation="enter 400ms ease" />,
};

const TransitionedBox = () => {
  const box = useRef(null);
  useEffect(() => {
    box.current.getBoundingClientRect();
    box.current.style.opacity = 1;
  }, []);
  return (
    <div style={{ width: 400, height: 80 }}>
      <div
        ref={box}
        style={{ width: 80, height: 80, background: '#14a44d', opacity: 0, transition: 'opacity 600ms' }}
      />
    </div>
  );
};

export const Transition = { render: () => <TransitionedBox /> };

const Frames = () => {
  const text = useRef(null);
  useEffect(() => {
    let frame = 0;
    let handle = 0;
    const draw = () => {
      frame += 1;
      text.current.textContent = `frame ${frame}`;
      text.current.style.width = `${100 + (frame % 300)}px`;
      handle = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(handle);
  }, []);
  return <div ref={text} className="marker" style={{ whiteSpace: 'nowrap' }} />;
};

export const EndlessFrames = { render: () => <Frames /> };

const WebAnimation = () => {
  const box = useRef(null);
  useEffect(() => {
    const turning = box.current.animate([{ rotate: '0deg' }, { rotate: '360deg' }], {
      duration: 900,
      iterations: Infinity,
    });
    return () => turning.cancel();
  }, []);
  return <div ref={box} style={{ width: 80, height: 80, background: '#14a44d' }} />;
};

export const EndlessWebAnimation = { render: () => <WebAnimation /> };

export const Smil = {
  render: () => (
    <svg width="200" height="60">
      <rect width="60" height="60" fill="#14a44d">
        <animate attributeName="x" values="0;140;0" dur="1.1s" repeatCount="indefinite" />
      </rect>
    </svg>
  ),
};

export const Caret = {
  render: () => <input autoFocus defaultValue="the caret blinks" style={{ font: 'inherit' }} />,
};
