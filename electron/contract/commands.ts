import { pages } from './pages.ts';

interface Command {
  /** Where its keys work; whoever handles a scope handles all of its commands. */
  readonly scope: 'everywhere' | 'page' | 'lookup' | 'draft' | 'job' | 'grid' | 'results' | 'find';
  /** One or the other. Modifiers and a key, `Ctrl Shift C`: on macOS the command key stands for Ctrl. */
  readonly keys: readonly string[];
  /** In the list of shortcuts. Commands with the same one stand on one line. */
  readonly label: string;
  /** Its item in the application's menu. */
  readonly menu?: string;
  /** Its entry in the palette, and further words that find it. */
  readonly palette?: string;
  readonly synonyms?: string;
}

/**
 * The commands that have keys: handlers, the list of shortcuts, the application's menu and the hints of buttons are made
 * of this. Apart from the models, since the window bundles no schema.
 */
export const commands = {
  openFile: {
    scope: 'everywhere',
    keys: ['Ctrl O'],
    label: 'Choose a file',
    menu: 'Open…',
    palette: 'Open a file',
    synonyms: 'choose load csv excel table batch',
  },
  inventory: {
    scope: 'everywhere',
    keys: ['Ctrl I'],
    label: 'Show what is in a file',
    menu: 'What is in these files…',
    palette: 'What is in these files?',
    synonyms: 'inventory count cards ssn iban mail folder look through pci scan find',
  },
  compare: {
    scope: 'everywhere',
    keys: ['Ctrl D'],
    label: 'Compare files by their tokens',
    menu: 'Compare files…',
    palette: 'Compare files',
    synonyms: 'difference duplicates twice both same common overlap tokens join',
  },
  palette: {
    scope: 'everywhere',
    keys: ['Ctrl K'],
    label: 'Paste anything, or run a command',
    menu: 'Commands…',
  },
  lock: {
    scope: 'everywhere',
    keys: ['Ctrl L'],
    label: 'Lock the app',
    menu: 'Lock',
    palette: 'Lock',
    synonyms: 'log out sign out away',
  },
  help: {
    scope: 'everywhere',
    keys: ['Ctrl /'],
    label: 'Show or hide this list',
    menu: 'Keyboard shortcuts',
    palette: 'Show shortcuts',
    synonyms: 'help keyboard keys',
  },
  guide: {
    scope: 'everywhere',
    keys: ['F1'],
    label: 'Show or hide the guide',
    menu: 'User’s guide',
    palette: 'Open the user’s guide',
    synonyms: 'help manual documentation f1 how to',
  },
  preferences: { scope: 'everywhere', keys: ['Ctrl ,'], label: 'Go to Settings', menu: 'Settings…' },
  hide: { scope: 'everywhere', keys: ['Esc'], label: 'Hide cleartext or close panel' },
  search: { scope: 'page', keys: ['Ctrl F'], label: 'Go to the page’s search field' },
  reveal: { scope: 'lookup', keys: ['Ctrl Shift C'], label: 'Reveal, or hide again' },
  copyMasked: { scope: 'lookup', keys: ['C'], label: 'Copy masked value' },
  copyToken: { scope: 'lookup', keys: ['T'], label: 'Copy token' },
  translate: { scope: 'lookup', keys: ['X'], label: 'Translate to another definition' },
  previous: { scope: 'lookup', keys: ['Up'], label: 'Previous or next lookup in this case' },
  next: { scope: 'lookup', keys: ['Down'], label: 'Previous or next lookup in this case' },
  test: { scope: 'draft', keys: ['Ctrl Shift Enter'], label: 'Test 20 rows' },
  run: { scope: 'draft', keys: ['Ctrl Enter'], label: 'Run' },
  export: { scope: 'job', keys: ['Ctrl E'], label: 'Export' },
  selectAll: { scope: 'grid', keys: ['Ctrl A'], label: 'Select all cells' },
  selectColumn: { scope: 'grid', keys: ['Ctrl Space'], label: 'Select the column, the row' },
  selectRow: { scope: 'grid', keys: ['Shift Space'], label: 'Select the column, the row' },
  copyCells: { scope: 'grid', keys: ['Ctrl C'], label: 'Copy what is selected, as shown' },
  openCell: { scope: 'grid', keys: ['Enter'], label: 'Reveal the cell' },
  cellMenu: { scope: 'grid', keys: ['Menu', 'Shift F10'], label: 'Show what can be done with the cell' },
  rowDetail: { scope: 'grid', keys: ['Space'], label: 'Show the whole row' },
  narrower: { scope: 'grid', keys: ['Alt Left'], label: 'Make the column narrower, wider' },
  wider: { scope: 'grid', keys: ['Alt Right'], label: 'Make the column narrower, wider' },
  revealCell: { scope: 'results', keys: ['Ctrl Shift C'], label: 'Reveal the cell, or hide again' },
  find: { scope: 'find', keys: ['Ctrl F'], label: 'Find, next, previous' },
  findNext: { scope: 'find', keys: ['F3'], label: 'Find, next, previous' },
  findPrevious: { scope: 'find', keys: ['Shift F3'], label: 'Find, next, previous' },
  goToRow: { scope: 'find', keys: ['Ctrl G'], label: 'Go to a row' },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;
export type Scope = Command['scope'];
export type CommandOf<S extends Scope> = {
  [N in CommandName]: (typeof commands)[N]['scope'] extends S ? N : never;
}[CommandName];
/** Those that the application's menu has. */
export type MenuCommand = {
  [N in CommandName]: (typeof commands)[N] extends { menu: string } ? N : never;
}[CommandName];

export const commandNames = Object.keys(commands) as CommandName[];
export const menuCommands = commandNames.filter((name): name is MenuCommand => 'menu' in commands[name]);

/** The keys of the page at this position. */
export const pageKeys = (position: number): string => `Ctrl ${position + 1}`;
export const pageKeysTogether = `Ctrl 1 … ${pages.length}`;
