import type { Finding } from '../report.ts'

/** What a check found. `check` is stable, for programs that read the JSON. */
export interface Check extends Finding {
  readonly check: 'node' | 'package' | 'peer' | 'storage' | 'port' | 'server' | 'authentication' | 'streaming'
}
