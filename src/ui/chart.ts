import { scaleLinear } from 'd3-scale';
import { formatCount } from '../lib/format.ts';

/** A day or a week. */
export interface ChartPoint {
  /** Its first day, YYYY-MM-DD. */
  day: string;
  /** In full, for the text alternative. */
  name: string;
  /** Under the axis. */
  tick: string;
  requests: number;
  failed: number;
  /** Not all of it is counted: today, or a week cut off by the range. */
  isPartial: boolean;
}

export interface ChartRow {
  /** Tells the page which row was chosen. */
  id: string;
  label: string;
  requests: number;
  failed: number;
}

export type ChartData =
  /** Columns over time, failures also on a scale of their own. */
  | { kind: 'days'; points: ChartPoint[] }
  /** Bars, the longest first. `rest`: how many rows are in the table only. */
  | { kind: 'ranked'; rows: ChartRow[]; rest: number }
  /** One line each over the same days, on a scale of its own. */
  | { kind: 'series'; rows: (ChartRow & { points: ChartPoint[] })[]; rest: number };

interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Panel {
  title: string;
  /** Where the title's baseline is. */
  titleY: number;
  top: number;
  bottom: number;
  /** Lines of the grid, with their counts. */
  grid: { y: number; text: string }[];
  y: (count: number) => number;
}

export interface ColumnsLayout {
  left: number;
  right: number;
  /** The distance from one column to the next; `x` is a column's left edge. */
  step: number;
  x: (index: number) => number;
  columnWidth: number;
  requests: Panel;
  /** Absent while nothing failed. */
  failures: Panel | null;
  ticks: { x: number; anchor: 'start' | 'middle' | 'end'; text: string }[];
}

const tickRoom = 76;
const failureShare = 0.24;

/** Of columns over time, `top` pixels being kept for a legend. */
export function columnsLayout(
  points: readonly ChartPoint[],
  { width, height, top }: { width: number; height: number; top: number },
): ColumnsLayout {
  const axis = height - 22;
  const maxRequests = maxOf(points.map(({ requests }) => requests));
  const maxFailed = maxOf(points.map(({ failed }) => failed));
  const anyFailed = points.some(({ failed }) => failed > 0);
  const failuresHeight = anyFailed ? Math.max(52, (axis - top) * failureShare) : 0;
  const requests = panelOf('Requests', maxRequests, { top, bottom: axis - failuresHeight, grid: 4 });
  const failures = anyFailed
    ? panelOf('Failed, on a scale of its own', maxFailed, {
        top: axis - failuresHeight + 8,
        bottom: axis,
        grid: 2,
      })
    : null;
  const texts = [...requests.grid, ...(failures?.grid ?? [])].map(({ text }) => textWidth(text));
  const left = Math.ceil(Math.max(16, ...texts)) + 10;
  const right = width - 4;
  const step = Math.max(1, (right - left) / Math.max(1, points.length));
  const columnWidth = Math.min(56, Math.max(1, step > 6 ? step * 0.76 : step - 0.75));
  const x = (index: number): number => left + index * step + (step - columnWidth) / 2;
  const every = Math.max(1, Math.ceil(tickRoom / step));
  const ticks = points
    .map(({ tick }, index) => tickOf(tick, left + (index + 0.5) * step, left, right))
    .filter((_, index) => (points.length - 1 - index) % every === 0);
  return { left, right, step, x, columnWidth, requests, failures, ticks };
}

function panelOf(
  title: string,
  max: number,
  { top, bottom, grid }: { top: number; bottom: number; grid: number },
): Panel {
  const plotTop = top + 18;
  const scale = scaleLinear([0, max], [bottom, plotTop]).nice(grid);
  const lines = scale
    .ticks(grid)
    .filter((count) => Number.isInteger(count))
    .map((count) => ({ y: scale(count), text: formatCount(count) }));
  return {
    title,
    titleY: top + 10,
    top: plotTop,
    bottom,
    grid: withRoom(lines, 12),
    y: (count) => scale(count),
  };
}

/** Zero and the highest always; those between only where their texts do not touch. */
function withRoom(lines: Panel['grid'], room: number): Panel['grid'] {
  const [first, last] = [lines[0], lines.at(-1)];
  const gap = lines.length < 2 ? room : Math.abs((lines[0]?.y ?? 0) - (lines[1]?.y ?? 0));
  return gap >= room ? lines : lines.filter((line) => line === first || line === last);
}

function tickOf(text: string, middle: number, left: number, right: number): ColumnsLayout['ticks'][number] {
  const half = textWidth(text) / 2;
  if (middle - half < left) return { x: left, anchor: 'start', text };
  if (middle + half > right) return { x: right, anchor: 'end', text };
  return { x: middle, anchor: 'middle', text };
}

/** A column or a bar is seen as soon as it is not nothing. */
export function columnRect(
  layout: ColumnsLayout,
  panel: Panel,
  index: number,
  [from, to]: readonly [number, number],
): Rect {
  const [y, end] = [panel.y(to), panel.y(from)];
  const height = to > from ? Math.max(1, end - y) : 0;
  return { x: layout.x(index), y: end - height, width: layout.columnWidth, height };
}

export interface RowsLayout {
  nameWidth: number;
  plotLeft: number;
  plotWidth: number;
  /** The right edges of the two columns of figures. */
  requestsEnd: number;
  failedEnd: number;
  top: (index: number) => number;
  rowHeight: number;
  height: number;
}

/** Of rows with a name, a plot and two figures each. */
export function rowsLayout(
  data: Extract<ChartData, { rows: unknown }>,
  { width, top }: { width: number; top: number },
): RowsLayout {
  const widest = (texts: string[]): number => Math.ceil(Math.max(0, ...texts.map((text) => textWidth(text))));
  const rowHeight = data.kind === 'ranked' ? 24 : 28;
  const nameWidth = Math.min(width * 0.3, widest(data.rows.map(({ label }) => label)) + 2);
  const failedWidth = widest(data.rows.map(({ failed }) => failedText(failed)));
  const requestsWidth = widest(data.rows.map(({ requests }) => formatCount(requests)));
  const failedEnd = width - 4;
  const requestsEnd = failedEnd - failedWidth - 12;
  const plotLeft = nameWidth + 12;
  return {
    nameWidth,
    plotLeft,
    plotWidth: Math.max(8, requestsEnd - requestsWidth - 12 - plotLeft),
    requestsEnd,
    failedEnd,
    top: (index) => top + index * rowHeight,
    rowHeight,
    height: top + data.rows.length * rowHeight + (data.rest > 0 ? 20 : 0),
  };
}

export const failedText = (failed: number): string => `${formatCount(failed)} failed`;

/** The length of a ranked bar and of its failed part. */
export function barLength(count: number, max: number, room: number): number {
  return count === 0 ? 0 : Math.max(1, (count / Math.max(1, max)) * room);
}

/** A row's line through its complete points, and on to the partial one at its end, as paths. */
export function linePaths(points: readonly ChartPoint[], room: Rect): { complete: string; partial: string } {
  // A line needs two points: a single one is drawn as a dash in the middle.
  if (points.length === 1)
    return {
      complete: `M${round(room.x + room.width / 2 - 8)} ${round(room.y + room.height / 2)}h16`,
      partial: '',
    };
  const max = maxOf(points.map(({ requests }) => requests));
  const across = scaleLinear([0, Math.max(1, points.length - 1)], [room.x + 2, room.x + room.width - 2]);
  const up = scaleLinear([0, max], [room.y + room.height, room.y]);
  const places = points.map(({ requests }, index) => `${round(across(index))} ${round(up(requests))}`);
  const join = (some: string[]): string => (some.length < 2 ? '' : `M${some.join('L')}`);
  const endsPartial = points.at(-1)?.isPartial === true;
  return {
    complete: join(endsPartial ? places.slice(0, -1) : places),
    partial: endsPartial ? join(places.slice(-2)) : '',
  };
}

const round = (place: number): string => place.toFixed(1);
const maxOf = (counts: number[]): number => counts.reduce((max, count) => Math.max(max, count), 1);

const family = "'Inter Variable', system-ui, sans-serif";
let measure: OffscreenCanvasRenderingContext2D | null | undefined;

/** In the charts' font and size, 11 pixels; their figures are all as wide as a zero, which a canvas can't be told. */
export function textWidth(text: string): number {
  if (measure === undefined) {
    measure = typeof OffscreenCanvas === 'undefined' ? null : new OffscreenCanvas(1, 1).getContext('2d');
    if (measure) measure.font = `11px ${family}`;
  }
  return measure?.measureText(text.replaceAll(/\d/g, '0')).width ?? text.length * 6.5;
}

/** Cut with an ellipsis so that it fits; SVG has none of its own. */
export function fitText(text: string, room: number): string {
  if (textWidth(text) <= room) return text;
  let kept = Array.from(text);
  while (kept.length > 1 && textWidth(`${kept.join('')}…`) > room) kept = kept.slice(0, -1);
  return `${kept.join('')}…`;
}
