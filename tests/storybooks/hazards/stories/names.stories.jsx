import { Swatch } from './parts';

export default { title: 'Hazards/Größe 日本語 100%', render: () => <Swatch /> };

export const Überschrift = {};

export const 小さい = { name: '小さい / 😀' };

export const AVeryLongNameThatGoesOnAndOnAsIfSomebodyHadToFillALineAndThenAnotherOneWithoutEverComingToThePointOfWhatTheStoryIsAboutWhichIsNothingButItsOwnLengthUntilTheFileSystemHasHadEnough =
  {};
