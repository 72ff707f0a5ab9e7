import { useState } from 'react';
import { userEvent, within } from 'storybook/test';

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

export const OpensABlankPage = {
  render: () => (
    <a href="./framed.html" target="_blank" rel="opener">
      elsewhere
    </a>
  ),
  play: async ({ canvasElement }) => {
    await userEvent.click(within(canvasElement).getByText('elsewhere'));
  },
};

export const WritesTheDocumentAnew = {
  render: () => (
    <Afterwards
      act={() => {
        document.open();
        document.write('<p>nothing is left</p>');
        document.close();
      }}
    />
  ),
};

export const EmptiesTheBody = {
  render: () => <Afterwards act={() => void (document.body.innerHTML = '')} />,
};

export const Prints = { render: () => <Afterwards act={() => window.print()} /> };

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
