import type { ReactNode } from 'react';

import './Table.css';

export interface Loan {
  title: string;
  reader: string;
  due: string;
  renewals: number;
}

type Column = keyof Loan;

export interface TableProps {
  loans: Loan[];
  density?: 'comfortable' | 'dense';
  /** Titles of the rows that are picked. */
  selected?: string[];
  sort?: { by: Column; direction: 'ascending' | 'descending' };
  children?: ReactNode;
}

const HEADINGS: Record<Column, string> = {
  title: 'Title',
  reader: 'Reader',
  due: 'Due',
  renewals: 'Renewals',
};
const COLUMNS = Object.keys(HEADINGS) as Column[];

const sorted = (loans: Loan[], sort: TableProps['sort']) => {
  if (!sort) return loans;
  const sign = sort.direction === 'ascending' ? 1 : -1;
  return loans.toSorted((a, b) => (a[sort.by] < b[sort.by] ? -sign : sign));
};

const align = (column: Column) => (column === 'renewals' ? 'table-number' : undefined);

export function Table({ loans, density = 'comfortable', selected = [], sort, children }: TableProps) {
  return (
    <div className="table-frame">
      <table className="table" data-density={density}>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th
                key={column}
                className={align(column)}
                aria-sort={sort?.by === column ? sort.direction : undefined}
              >
                {HEADINGS[column]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(loans, sort).map((loan) => (
            <tr key={loan.title} aria-selected={selected.includes(loan.title)}>
              {COLUMNS.map((column) => (
                <td key={column} className={align(column)}>
                  {loan[column]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {loans.length === 0 && <div className="table-empty">Every book is at home.</div>}
      {children}
    </div>
  );
}
