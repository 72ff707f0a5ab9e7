import { useState } from 'react';

import { Afterwards } from './parts';

export default { title: 'Hazards/Leaves' };

const Asks = ({ question }) => {
  const [answer] = useState(question);
  return <p className="marker">answered {String(answer)}</p>;
};

export const Alert = { render: () => <Asks question={() => window.alert('stop')} /> };

export const Confirm = { render: () => <Asks question={() => window.confirm('go on?')} /> };

export const Prompt = { render: () => <Asks question={() => window.prompt('name?')} /> };

export const BeforeUnload = {
  render: () => (
    <Afterwards
      act={() => window.addEventListener('beforeunload', (event) => event.preventDefault())}
    />
  ),
};

export const NavigatesToAnotherHost = {
  render: () => <Afterwards act={() => void (location.href = 'http://elsewhere.invalid/')} />,
};

export const NavigatesOnItsOwnHost = {
  render: () => <Afterwards act={() => void (location.href = './fence.json')} />,
};

export const SubmitsAForm = {
  render: () => (
    <form action="http://elsewhere.invalid/" method="post">
      <Afterwards act={() => document.querySelector('form').submit()} />
    </form>
  ),
};

export const ReloadsForEver = { render: () => <Afterwards act={() => location.reload()} /> };

export const OpensAPopup = {
  render: () => <Afterwards act={() => void window.open('about:blank', '_blank')} />,
};

export const Downloads = {
  render: () => (
    <>
      <a id="download" download="note.txt" href="data:text/plain,note">
        note
      </a>
      <Afterwards act={() => document.querySelector('#download').click()} />
    </>
  ),
};

export const AsksForPermissions = {
  render: () => (
    <Afterwards
      act={() => {
        navigator.geolocation?.getCurrentPosition(() => {});
        void globalThis.Notification?.requestPermission();
        void navigator.clipboard?.readText().catch(() => {});
      }}
    />
  ),
};
