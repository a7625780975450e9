import type { Usage } from '../contract/models/report.ts';
import type { TransfersRecord } from '../service/limits/transfers.ts';

const hourMs = 3_600_000;
/** The hours whose pace the forecast goes on with. */
const paceHours = 3;

/**
 * The transfers that this computer counted for a connection: of the last 24 hours, which the limit is for, and of the
 * local day. The forecast is a guess: the day goes on as in the last three hours. Null where those had none.
 */
export function usageOf(hours: TransfersRecord['hours'], limit: number, now: Date): Usage {
  const thisHour = Math.floor(now.getTime() / hourMs);
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime() / hourMs;
  const sumSince = (from: number): number =>
    hours.reduce((sum, { hour, count }) => (hour >= from && hour <= thisHour ? sum + count : sum), 0);
  const today = sumSince(midnight);
  const recent = sumSince(Math.max(midnight, thisHour - paceHours + 1));
  const elapsed = Math.min(paceHours, now.getTime() / hourMs - Math.max(midnight, thisHour - paceHours + 1));
  const left = midnight + 24 - now.getTime() / hourMs;
  // The first minutes of a day say nothing about it.
  const forecast = recent === 0 || elapsed < 0.5 ? null : Math.round(today + (recent / elapsed) * left);
  return { limit, lastDay: sumSince(thisHour - 24), today, forecast };
}
