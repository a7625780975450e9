import type { Desk } from '../../desk.svelte.ts';

export class BatchController {
  readonly desk: Desk;
  constructor(desk: Desk) {
    this.desk = desk;
  }
}
