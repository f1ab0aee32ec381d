import { shownClients } from './clients.ts'
import { figuresOf } from './figures.ts'
import { read } from './package.ts'

const load = () => ({
  clients: shownClients(read('docs/clients.md')),
  figures: figuresOf(read('docs/benchmarks.md')),
  picture: { wide: read('docs/public/one-log.svg'), tall: read('docs/public/one-log-tall.svg') },
})

export declare const data: ReturnType<typeof load>

export default { watch: ['../clients.md', '../benchmarks.md', '../public/*.svg'], load }
