import type { Layout } from './models/batch.ts';

/** Only delimited rows take further cells, and may be without names for their columns. Others stay in the form they have. */
export const isDelimited = ({ json, records }: Pick<Layout, 'json' | 'records'>): boolean =>
  json === undefined && records === undefined;

/** Whether a person may say in which row the table begins and ends: above and below records of a type stand others. */
export const hasPlace = ({ json, records }: Pick<Layout, 'json' | 'records'>): boolean =>
  json === undefined && records?.only === undefined && records?.lines !== false;
