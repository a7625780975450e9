import type { Desk } from '../../desk.svelte.ts';

export class SettingsController {
  readonly desk: Desk;
  constructor(desk: Desk) {
    this.desk = desk;
  }
}
