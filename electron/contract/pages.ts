/**
 * The pages of the window, in the order of the sidebar, the View menu and the palette: Ctrl and a page's number in this
 * order goes to it. Apart from the models, since the window bundles no schema.
 */
export const pages = [
  { id: 'lookup', label: 'Lookup' },
  { id: 'batch', label: 'Batch' },
  { id: 'reports', label: 'Reports' },
  { id: 'activity', label: 'Activity' },
  { id: 'connections', label: 'Connections' },
  { id: 'settings', label: 'Settings' },
  { id: 'administration', label: 'Administration' },
] as const;

export type PageId = (typeof pages)[number]['id'];
