/**
 * The pages of the window, in the order of the sidebar, the View menu and the palette: Ctrl and a page's number in this
 * order goes to it. The synonyms find it in the palette. Apart from the models, since the window bundles no schema.
 */
export const pages = [
  { id: 'lookup', label: 'Lookup', synonyms: 'token case reveal' },
  { id: 'batch', label: 'Batch', synonyms: 'csv excel paste rows export results' },
  {
    id: 'reports',
    label: 'Reports',
    synonyms: 'figures usage failed requests cleartext access evidence tool server',
  },
  { id: 'activity', label: 'Activity', synonyms: 'audit log history' },
  { id: 'connections', label: 'Connections', synonyms: 'service api key policy password certificate test' },
  {
    id: 'settings',
    label: 'Settings',
    synonyms:
      'theme dark light passphrase reasons limits import export connections diagnostics about version',
  },
  { id: 'administration', label: 'Administration', synonyms: 'portal definitions policies keys' },
] as const;

export type PageId = (typeof pages)[number]['id'];
export const isPageId = (name: string): name is PageId => pages.some(({ id }) => id === name);
