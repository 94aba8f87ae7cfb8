// The catalog of schedules as `debubble list schedules --format json` prints it.

export interface Param {
  name: string;
  values: string;
  default: string;
  help: string;
}

export interface Schedule {
  name: string;
  summary: string;
  citation: string;
  constraints: string;
  needs: string;
  default_chunks: number;
  params: Param[];
  family: string;
  certainty: string;
  certainty_note: string;
  makespan: string | null;
  peak_activations: string | null;
  frameworks: string;
  advice: string;
}

export function readCatalog(json: string): Schedule[] {
  return (JSON.parse(json) as { schedules: Schedule[] }).schedules;
}
