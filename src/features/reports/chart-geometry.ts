import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { Point } from './chart-model.ts';
import { formatDay } from './dates.ts';

export interface Box {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** What both the SVG on the screen and the canvas of a file draw from. Pixels. */
export interface DaysGeometry {
  x: (index: number) => number;
  y: (count: number) => number;
  counts: number[];
  /** Places of the days that are named under the axis. */
  named: { index: number; label: string; anchor: 'start' | 'middle' | 'end' }[];
}

const wholeTicks = (scale: { ticks: (count: number) => number[] }): number[] =>
  scale.ticks(4).filter((tick) => Number.isInteger(tick));

export function daysGeometry(points: readonly Point[], box: Box): DaysGeometry {
  const last = points.length - 1;
  const most = Math.max(1, ...points.map(({ requests, failed }) => Math.max(requests, failed)));
  const across = scaleLinear([0, Math.max(1, last)], [box.left, box.width - box.right]);
  const up = scaleLinear([0, most], [box.height - box.bottom, box.top]).nice(4);
  const x = (index: number): number => (last === 0 ? (box.left + box.width - box.right) / 2 : across(index));
  const room = Math.max(1, Math.floor((box.width - box.left - box.right) / 84));
  const step = Math.max(1, Math.ceil(last / room));
  const named = points
    .map(({ day }, index) => ({ index, label: formatDay(day, false) }))
    .filter(({ index }) => index % step === 0 && (index === last || last - index >= step / 2))
    .map(({ index, label }) => ({ index, label, anchor: anchorOf(index, last) }));
  return { x, y: (count) => up(count), counts: wholeTicks(up), named };
}

function anchorOf(index: number, last: number): 'start' | 'middle' | 'end' {
  if (last === 0) return 'middle';
  return index === 0 ? 'start' : index === last ? 'end' : 'middle';
}

type Context = Parameters<ReturnType<typeof line<Point>>['context']>[0];

export function requestsArea({ x, y }: DaysGeometry, context: Context = null) {
  return area<Point>(
    (_, index) => x(index),
    y(0),
    ({ requests }) => y(requests),
  ).context(context);
}

export function countLine({ x, y }: DaysGeometry, what: 'requests' | 'failed', context: Context = null) {
  return line<Point>(
    (_, index) => x(index),
    (point) => y(point[what]),
  ).context(context);
}

/** One small line on a scale of its own. */
export function sparkline(
  points: readonly Point[],
  box: Pick<Box, 'width' | 'height'>,
  context: Context = null,
) {
  const most = Math.max(1, ...points.map(({ requests }) => requests));
  const across = scaleLinear([0, Math.max(1, points.length - 1)], [1, box.width - 1]);
  const up = scaleLinear([0, most], [box.height - 2, 2]);
  return line<Point>(
    (_, index) => across(index),
    ({ requests }) => up(requests),
  ).context(context);
}

/** Length of a ranked bar, out of `room`. */
export function barScale(most: number, room: number): (count: number) => number {
  const scale = scaleLinear([0, Math.max(1, most)], [0, room]);
  return (count) => (count === 0 ? 0 : Math.max(1, scale(count)));
}
