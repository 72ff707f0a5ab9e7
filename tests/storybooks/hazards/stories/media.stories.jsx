export default { title: 'Hazards/Media' };

const Pictured = ({ src }) => <img src={src} alt="" width="120" height="90" />;

/** Each shows green first and red 80 ms later, for ever. */
export const Gif = { render: () => <Pictured src="./moving.gif" /> };

export const Apng = { render: () => <Pictured src="./moving.apng.png" /> };

export const WebP = { render: () => <Pictured src="./moving.webp" /> };

export const GifWithoutSuffix = { render: () => <Pictured src="./moving-without-suffix" /> };

export const GifAsBackground = {
  render: () => (
    <div style={{ width: 120, height: 90, background: 'url(./moving.gif) 0 0 / cover' }} />
  ),
};

export const Video = {
  render: () => <video src="./moving.webm" autoPlay loop muted playsInline width="160" height="120" />,
};

export const VideoThatIsMissing = {
  render: () => <video src="./no-such-video.webm" autoPlay loop muted width="160" height="120" />,
};
