/** As many rows above and below a table can be said to be none of it. The window knows them, and no schema. */
export const maxRowsAbove = 1_000;
export const maxRowsBelow = 50;
