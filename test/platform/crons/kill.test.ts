import { describe, expect, onTestFinished, test } from 'vitest'
import { accessOf } from '../../../src/core/principal.ts'
import { clockOf, findCron } from '../../../src/faces/rest/crons/records.ts'
import { openStorage } from '../../../src/storage/open.ts'
import { BACKENDS } from '../../kit/backends.ts'
import { bundleOf } from '../../kit/bundle.ts'
import { programs } from '../../kit/program.ts'
import { eventually } from '../../kit/wait.ts'
import { addCron } from './servers.ts'

const start = programs()
const CRONS = 12
const NEVER = '0 0 29 2 *'

describe.each(BACKENDS.filter((backend) => backend.installed()))('over $name', (backend) => {
  test('what an instance had started and not noted when it was killed gets no second run', {
    timeout: 240_000,
  }, async () => {
    const database = await backend.create()
    onTestFinished(() => database.remove())
    const { store, setup, close } = await openStorage(database.url)
    await setup()
    onTestFinished(() => close())
    const due = (await clockOf(store)) - 1_000
    for (let at = 0; at < CRONS; at++)
      await addCron(store, {
        cronId: `cron-${at}`,
        schedule: NEVER,
        timezone: null,
        nextRun: due,
        onRunCompleted: at % 2 === 0 ? 'keep' : 'delete',
      })
    const worker = async (env: NodeJS.ProcessEnv) => {
      const program = start(process.execPath, [await bundleOf('test/platform/crons/worker.ts')], {
        ...process.env,
        STORAGE: database.url,
        ...env,
      })
      await program.output(/ready/)
      return program
    }
    const lines = (text: string, kind: string) => text.split('\n').filter((line) => line.startsWith(kind))

    const first = await worker({ HANGS: '1' })
    await eventually(() => lines(first.text(), 'started').length === CRONS)
    await eventually(() => lines(first.text(), 'run ').length === CRONS)
    first.child.kill('SIGKILL')
    await first.exit

    const second = await worker({})
    const crons = () =>
      Promise.all(Array.from({ length: CRONS }, (_, at) => findCron(store, accessOf(null), `cron-${at}`)))
    await eventually(async () => (await crons()).every((cron) => cron?.record.lastRun?.due === due))
    expect(lines(second.text(), 'started')).toHaveLength(CRONS)
    // Every run that there is, was there before the kill.
    const runs = lines(first.text(), 'run ').map((line) => line.slice('run '.length))
    expect(new Set(runs).size).toBe(CRONS)
    const noted = (await crons()).map((cron) => cron!.record.lastRun!)
    expect(noted.map(({ runId }) => runId).sort()).toEqual(runs.sort())
    expect(lines(second.text(), 'run ')).toEqual([])
    // The threads that were to go have gone, and only those.
    const threads = () =>
      store.list('threads').then(({ docs }) => docs.map(({ partition }) => partition).sort())
    const kept = noted.filter((_, at) => at % 2 === 0).map(({ threadId }) => threadId)
    await eventually(async () => (await threads()).length === kept.length)
    expect(await threads()).toEqual(kept.sort())
    expect(first.text() + second.text()).not.toContain('reported')
  })
})
