import { a2a } from './a2a.ts'
import { agUi } from './ag-ui.ts'
import { aiSdkChats } from './ai-sdk.ts'
import { bigEvents } from './big-events.ts'
import { burst, sockets } from './burst.ts'
import { calls } from './calls.ts'
import { controlPlane } from './control-plane.ts'
import { controlPlanePages } from './control-plane-pages.ts'
import { deploy } from './deploy.ts'
import { firstRequest } from './first-request.ts'
import { firstToken } from './first-token.ts'
import { floors } from './floors.ts'
import { formats } from './formats.ts'
import { graph } from './graph.ts'
import { idleReaders } from './idle-readers.ts'
import { importing } from './import.ts'
import { lists } from './lists.ts'
import { longContext } from './long-context.ts'
import { mcpCalls } from './mcp.ts'
import { memory } from './memory.ts'
import { openAiStreams } from './openai.ts'
import { page } from './page.ts'
import { platform } from './platform.ts'
import { replay } from './replay.ts'
import { shortRun } from './short-run.ts'
import { stalledReader } from './stalled-reader.ts'
import { storage } from './storage.ts'
import { storageInstances } from './storage-instances.ts'
import { storageRuns } from './storage-runs.ts'
import { subscribers } from './subscribers.ts'
import { printTable, type Row } from './support/report.ts'
import { tracing } from './tracing.ts'

/** Runs every benchmark, one after the other. See docs/benchmarks.md. */
const rows: Row[] = []
for (const bench of [
  calls,
  importing,
  firstRequest,
  burst,
  sockets,
  graph,
  replay,
  memory,
  bigEvents,
  stalledReader,
  firstToken,
  shortRun,
  floors,
  a2a,
  openAiStreams,
  aiSdkChats,
  mcpCalls,
  agUi,
  longContext,
  platform,
  subscribers,
  idleReaders,
  storage,
  storageInstances,
  storageRuns,
  lists,
  deploy,
  controlPlane,
  controlPlanePages,
  formats,
  tracing,
  page,
]) {
  console.error(`${bench.name} …`)
  rows.push(...(await bench()))
}
printTable(rows)
