import type { Layout } from './models/batch.ts';

/** Only delimited rows take further cells, and may be without names for their columns. Others stay in the form they have. */
export const isDelimited = ({ json }: Pick<Layout, 'json'>): boolean => json === undefined;

/** Whether a person may say in which row the table begins and ends. */
export const hasPlace = (layout: Pick<Layout, 'json'>): boolean => isDelimited(layout);
