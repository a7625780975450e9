/** What the help overlay lists; the handlers are where the work is. */
export const shortcuts: { where: string; keys: [string, string][] }[] = [
  {
    where: 'Everywhere',
    keys: [
      ['Ctrl L', 'Lock the desk'],
      ['Ctrl 1 … 6', 'Go to a place of the rail'],
      ['Ctrl F', 'Go to the page’s search field'],
      ['Ctrl /', 'Show or hide this list'],
      ['Esc', 'Hide cleartext, close a strip'],
    ],
  },
  {
    where: 'Lookup',
    keys: [
      ['Enter', 'Mask the token'],
      ['R or Ctrl Shift C', 'Reveal, or hide again'],
      ['C', 'Copy the mask'],
      ['T', 'Copy the token'],
      ['X', 'Translate to another definition'],
      ['Up, Down', 'Walk the earlier lookups of the case'],
    ],
  },
  {
    where: 'Tables',
    keys: [
      ['Arrows', 'Move from cell to cell'],
      ['Page Up, Page Down', 'Move by a screen'],
      ['Ctrl Home, Ctrl End', 'First and last row'],
      ['Enter', 'Reveal the cell'],
    ],
  },
];
