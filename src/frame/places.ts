import Activity from '@lucide/svelte/icons/scroll-text';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import Plug from '@lucide/svelte/icons/plug';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Table from '@lucide/svelte/icons/table-2';

/** The rail, in its order; Ctrl and the position go there. */
export const places = [
  { id: 'lookup', label: 'Lookup', icon: Search },
  { id: 'batch', label: 'Batch', icon: Table },
  { id: 'reports', label: 'Reports', icon: ChartColumn },
  { id: 'activity', label: 'Activity', icon: Activity },
  { id: 'connections', label: 'Connections', icon: Plug },
  { id: 'settings', label: 'Settings', icon: Settings },
] as const;

export type Place = (typeof places)[number]['id'];
