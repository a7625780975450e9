import { formatCount } from '../../format.ts';
import { barScale, countLine, daysGeometry, requestsArea, sparkline } from './chart-geometry.ts';
import type { ChartModel } from './chart-model.ts';

/** A file goes into reports and mails: on white, whatever the theme. The light theme's colours. */
const ink = {
  paper: 'oklch(1 0 0)',
  text: 'oklch(0.24 0.012 265)',
  quiet: 'oklch(0.47 0.014 265)',
  line: 'oklch(0.905 0.005 265)',
  accent: 'oklch(0.5 0.19 278)',
  area: 'oklch(0.5 0.19 278 / 0.12)',
  danger: 'oklch(0.5 0.19 25)',
};
const font = (size: number, weight = 400): string =>
  `${weight} ${size}px 'Inter Variable', system-ui, sans-serif`;

export interface ChartTitle {
  title: string;
  subtitle: string;
}

/**
 * The chart as PNG bytes in base64. It is drawn on a canvas from the same geometry as the one on the screen: an SVG
 * would have to be loaded as an image first, which the window's policy forbids.
 */
export async function chartPng(model: ChartModel, title: ChartTitle): Promise<string> {
  const width = 1_200;
  const rows =
    model.kind === 'ranked' ? model.bars.length : model.kind === 'series' ? model.series.length : 0;
  const height = model.kind === 'days' ? 560 : Math.min(2_000, 120 + rows * 30);
  const scale = 2;
  const canvas = new OffscreenCanvas(width * scale, height * scale);
  const context = canvas.getContext('2d');
  if (context === null) return '';
  context.scale(scale, scale);
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, width, height);
  write(context, title.title, 32, 40, { size: 20, weight: 600 });
  write(context, title.subtitle, 32, 64, { size: 13, colour: ink.quiet });
  if (model.kind === 'days') drawDays(context, model, width, height);
  else if (model.kind === 'ranked') drawRanked(context, model, width);
  else if (model.kind === 'series') drawSeries(context, model, width);
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  return base64(new Uint8Array(await blob.arrayBuffer()));
}

type Context = OffscreenCanvasRenderingContext2D;
/** d3-shape's type asks for the canvas of a document; it draws on either. */
const pathOf = (context: Context): CanvasRenderingContext2D => context as unknown as CanvasRenderingContext2D;

interface Look {
  size?: number;
  weight?: number;
  colour?: string;
  align?: CanvasTextAlign;
}

function write(context: Context, text: string, x: number, y: number, look: Look = {}): void {
  context.font = font(look.size ?? 13, look.weight);
  context.fillStyle = look.colour ?? ink.text;
  context.textAlign = look.align ?? 'start';
  context.fillText(text, x, y);
}

function stroke(context: Context, colour: string, width: number, dash: number[] = []): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

function drawDays(
  context: Context,
  { points }: Extract<ChartModel, { kind: 'days' }>,
  width: number,
  height: number,
): void {
  const box = { width, height, left: 96, right: 32, top: 112, bottom: 48 };
  const geometry = daysGeometry(points, box);
  for (const count of geometry.counts) {
    context.beginPath();
    context.moveTo(box.left, geometry.y(count));
    context.lineTo(width - box.right, geometry.y(count));
    stroke(context, ink.line, 1);
    write(context, formatCount(count), box.left - 12, geometry.y(count) + 4, {
      colour: ink.quiet,
      align: 'end',
    });
  }
  const align = { start: 'start', middle: 'center', end: 'end' } as const;
  for (const { index, label, anchor } of geometry.named) {
    write(context, label, geometry.x(index), height - 20, { colour: ink.quiet, align: align[anchor] });
  }
  context.beginPath();
  requestsArea(geometry, pathOf(context))(points);
  context.fillStyle = ink.area;
  context.fill();
  context.beginPath();
  countLine(geometry, 'requests', pathOf(context))(points);
  stroke(context, ink.accent, 2);
  context.beginPath();
  countLine(geometry, 'failed', pathOf(context))(points);
  stroke(context, ink.danger, 2, [6, 4]);
  legend(context, box.left, 92, ink.accent, [], 'requests');
  legend(context, box.left + 110, 92, ink.danger, [6, 4], 'failed');
}

function legend(context: Context, x: number, y: number, colour: string, dash: number[], words: string): void {
  context.beginPath();
  context.moveTo(x, y - 4);
  context.lineTo(x + 24, y - 4);
  stroke(context, colour, 2, dash);
  write(context, words, x + 32, y, { colour: ink.quiet });
}

function drawRanked(
  context: Context,
  { bars }: Extract<ChartModel, { kind: 'ranked' }>,
  width: number,
): void {
  const length = barScale(Math.max(...bars.map(({ requests }) => requests)), width - 480);
  for (const [index, { label, requests, failed }] of bars.entries()) {
    const y = 92 + index * 30;
    write(context, cut(label), 32, y + 15);
    context.fillStyle = ink.accent;
    context.fillRect(320, y, length(requests), 20);
    context.fillStyle = ink.danger;
    context.fillRect(320, y, length(failed), 20);
    const words =
      failed === 0 ? formatCount(requests) : `${formatCount(requests)}, ${formatCount(failed)} failed`;
    write(context, words, 332 + length(requests), y + 15, { colour: ink.quiet });
  }
}

function drawSeries(
  context: Context,
  { series }: Extract<ChartModel, { kind: 'series' }>,
  width: number,
): void {
  for (const [index, { label, requests, failed, points }] of series.entries()) {
    const y = 92 + index * 30;
    write(context, cut(label), 32, y + 17);
    context.save();
    context.translate(320, y);
    context.beginPath();
    sparkline(points, { width: width - 560, height: 26 }, pathOf(context))(points);
    stroke(context, ink.accent, 1.5);
    context.restore();
    write(context, `${formatCount(requests)}, ${formatCount(failed)} failed`, width - 32, y + 17, {
      colour: ink.quiet,
      align: 'end',
    });
  }
}

const cut = (label: string): string => (label.length > 36 ? `${label.slice(0, 35)}…` : label);

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += 8_192) {
    text += String.fromCharCode(...bytes.subarray(from, from + 8_192));
  }
  return btoa(text);
}
