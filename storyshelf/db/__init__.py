"""The database: its tables, the engine with its transactions, and the embedded server.

Rules that hold for every table. Times are `timestamptz` and come from the database's own clock
wherever they are compared. What a row may be is said by CHECK constraints, not only by code.
States are text in the words of the domain, so that a row can be read without a legend. Rows carry
no ORM relationships: a statement says what it reads. All SQL of a table lives in the `store` of one
package; other packages ask that store.
"""
