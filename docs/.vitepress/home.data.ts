import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { shownClients } from './clients.ts'
import { figuresOf } from './figures.ts'

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')

const load = () => ({
  clients: shownClients(read('clients.md')),
  figures: figuresOf(read('benchmarks.md')),
  picture: { wide: read('public/one-log.svg'), tall: read('public/one-log-tall.svg') },
})

export declare const data: ReturnType<typeof load>

export default { watch: ['../clients.md', '../benchmarks.md', '../public/*.svg'], load }
