import { Cover, type CoverProps } from './Cover';
import './Card.css';

export interface CardProps {
  title: string;
  author: string;
  blurb: string;
  facts?: string;
  cover?: CoverProps;
  /** `late` sets the title in a face that the page has yet to load. */
  titleFace?: 'shop' | 'late';
}

export function Card({ title, author, blurb, facts, cover, titleFace = 'shop' }: CardProps) {
  return (
    <article className="card">
      {cover && <Cover {...cover} />}
      <div className="card-body">
        <h3 className="card-title" data-face={titleFace}>
          {title}
        </h3>
        <p className="card-author">{author}</p>
        <p className="card-blurb">{blurb}</p>
        {facts && <div className="card-facts">{facts}</div>}
      </div>
    </article>
  );
}
