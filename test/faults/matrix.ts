import type { Row } from './row.ts';
import { damagedAnswers } from './rows/damaged-answers.ts';
import { limits } from './rows/limits.ts';
import { network } from './rows/network.ts';
import { sessions } from './rows/sessions.ts';

/** Every fault of service and network, and what the client must make of it. */
export const matrix: readonly { readonly part: string; readonly rows: readonly Row[] }[] = [
  { part: 'damaged answers', rows: damagedAnswers },
  { part: 'sessions and secrets', rows: sessions },
  { part: 'limits and outages', rows: limits },
  { part: 'network', rows: network },
];
