import '../stories/hazards.css';

export default {};
