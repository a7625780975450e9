import { flushSync, mount, unmount } from 'svelte';
import Chart from './Chart.svelte';
import type { ChartData } from './chart.ts';

export interface ChartTitle {
  title: string;
  subtitle: string;
}

const width = 1_200;
const margin = 32;
const head = 80;
const scale = 2;

/**
 * The chart as PNG bytes in base64, on white whatever the theme: files go into reports and mails. The same component is
 * drawn once more out of sight, and its SVG's shapes are painted on a canvas: loading the SVG as an image, the usual
 * way, needs `blob:` or `data:` in the policy's `img-src`.
 */
export async function chartPng(data: ChartData, { title, subtitle }: ChartTitle): Promise<string> {
  const target = document.createElement('div');
  Object.assign(target.style, { position: 'fixed', left: '-10000px', top: '0', colorScheme: 'light' });
  target.inert = true;
  document.body.append(target);
  const size = { width: width - 2 * margin, height: 480 };
  const chart = mount(Chart, { target, props: { data, label: title, size } });
  try {
    flushSync();
    const svg = target.querySelector('svg');
    if (svg === null) return '';
    const height = head + svg.height.baseVal.value + margin;
    const canvas = new OffscreenCanvas(width * scale, height * scale);
    const context = canvas.getContext('2d');
    if (context === null) return '';
    context.scale(scale, scale);
    context.fillStyle = 'white';
    context.fillRect(0, 0, width, height);
    const style = getComputedStyle(svg);
    context.fillStyle = 'black';
    context.font = `600 20px ${style.fontFamily}`;
    context.fillText(title, margin, 36, size.width);
    context.font = `13px ${style.fontFamily}`;
    context.fillText(subtitle, margin, 60, size.width);
    context.translate(margin, head);
    for (const shape of svg.querySelectorAll<SVGGraphicsElement>('rect, line, path, text'))
      paint(context, shape);
    const blob = await canvas.convertToBlob({ type: 'image/png' });
    return base64(new Uint8Array(await blob.arrayBuffer()));
  } finally {
    await unmount(chart);
    target.remove();
  }
}

/** The shapes that `Chart.svelte` draws: no transforms, no gradients. */
function paint(context: OffscreenCanvasRenderingContext2D, shape: SVGGraphicsElement): void {
  const style = getComputedStyle(shape);
  const number = (name: string): number => Number(shape.getAttribute(name));
  if (shape instanceof SVGTextElement) {
    const anchors: Record<string, CanvasTextAlign> = { start: 'left', middle: 'center', end: 'right' };
    context.textAlign = anchors[style.textAnchor] ?? 'left';
    context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.fillStyle = style.fill;
    context.fillText(shape.textContent, number('x'), number('y'));
    return;
  }
  const path = new Path2D(shape instanceof SVGPathElement ? (shape.getAttribute('d') ?? '') : '');
  if (shape instanceof SVGRectElement) path.rect(number('x'), number('y'), number('width'), number('height'));
  if (shape instanceof SVGLineElement) {
    path.moveTo(number('x1'), number('y1'));
    path.lineTo(number('x2'), number('y2'));
  }
  if (style.fill !== 'none') {
    context.globalAlpha = Number(style.fillOpacity);
    context.fillStyle = style.fill;
    context.fill(path);
    context.globalAlpha = 1;
  }
  if (style.stroke !== 'none') {
    context.strokeStyle = style.stroke;
    context.lineWidth = Number.parseFloat(style.strokeWidth);
    context.lineCap = style.strokeLinecap as CanvasLineCap;
    context.lineJoin = style.strokeLinejoin as CanvasLineJoin;
    context.setLineDash(
      style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(',').map(Number.parseFloat),
    );
    context.stroke(path);
  }
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += 8_192) {
    text += String.fromCharCode(...bytes.subarray(from, from + 8_192));
  }
  return btoa(text);
}
