import { Client } from '@langchain/langgraph-sdk'
import type { Browser, Page } from 'playwright-core'
import { build } from '../../examples/chat/demo/build.ts'
import { MARKDOWN } from '../../examples/chat/server/models/texts.ts'
import { startChat } from '../chat/page/app.ts'
import { firstLoad } from '../chat/page/first-load.ts'
import { submit } from '../chat/page/submit.ts'
import { launchBrowser } from '../kit/browser.ts'
import { least, type Row, runAlone, takeTurns, times } from './support/report.ts'

/** Measures the page of examples/chat in a browser: what it loads, what a token costs it, and how many frames it shows. */

const KIB = 1024
const MOST_KIB = 250
const LEAST_FRAMES = 50
const MOST_RATIO = 1.2
const MESSAGES = 500
const ROUNDS = 3
const MEASURED_MS = 5_000
/** Tokens a second of the scripted model. */
const SPEED = 60
/** Pixels a millisecond, as a flick. */
const SCROLL_SPEED = 5

export async function page(): Promise<Row[]> {
  await build(console.error, new AbortController().signal)
  const { origin, program } = await startChat({ speed: SPEED })
  const browser = await launchBrowser()
  try {
    return [
      ...(await sizes(browser, origin)),
      ...(await tokens(browser, origin)),
      ...(await frames(browser, origin)),
    ]
  } finally {
    await browser.close()
    program.child.kill('SIGTERM')
    await program.exit
  }
}

async function sizes(browser: Browser, origin: string): Promise<Row[]> {
  const row = (when: string, bytes: number): Row => ({
    bench: `scripts of ${when}, compressed`,
    ours: `${(bytes / KIB).toFixed(0)} KiB`,
    peer: '',
    ratio: '',
    target: '',
  })
  const within = (when: string, bytes: number): Row => ({
    ...row(when, bytes),
    target: `<= ${MOST_KIB} KiB`,
    met: bytes <= MOST_KIB * KIB,
  })
  const thread = `${origin}/t/${await makeThread(origin)}`
  const shown = (opened: Page) => opened.locator('.hljs-keyword').first().waitFor()
  const asked = async (opened: Page): Promise<void> => {
    await submit(opened, 'Show me Markdown')
    await shown(opened)
  }
  return [
    within('a first visit of /', await firstLoad(browser, `${origin}/`)),
    row('the same and a first answer with Markdown and code', await firstLoad(browser, `${origin}/`, asked)),
    row('a first visit of a thread with Markdown and code', await firstLoad(browser, thread, shown)),
  ]
}

async function tokens(browser: Browser, origin: string): Promise<Row[]> {
  const empty: Cost[] = []
  const long: Cost[] = []
  const measure = async (costs: Cost[], path: string): Promise<number> =>
    costs.push(await streaming(browser, origin + path, costOfToken))
  await takeTurns(ROUNDS, {
    empty: () => measure(empty, '/'),
    long: async () => measure(long, `/t/${await makeThread(origin)}`),
  })
  const row = (what: string, name: keyof Cost): Row => {
    // The first round only warms up.
    const [ours, peer] = [long, empty].map((costs) => least(costs.slice(1).map((cost) => cost[name])))
    return {
      bench: `${what} at message ${MESSAGES}, vs at message 1`,
      ours: `${ours!.toFixed(2)} ms`,
      peer: `${peer!.toFixed(2)} ms`,
      ratio: times(ours! / peer!),
      target: `<= ${MOST_RATIO.toFixed(2)}x`,
      met: ours! / peer! <= MOST_RATIO,
    }
  }
  return [
    row('a token: scripts', 'script'),
    row('a token: layout', 'layout'),
    row('a token: all work of the main thread', 'all'),
  ]
}

async function frames(browser: Browser, origin: string): Promise<Row[]> {
  const row = (what: string, rate: number): Row => ({
    bench: `frames a second while a thread of ${MESSAGES} messages ${what}`,
    ours: rate.toFixed(0),
    peer: '',
    ratio: '',
    target: `>= ${LEAST_FRAMES}`,
    met: rate >= LEAST_FRAMES,
  })
  const rate = async (scrolls: boolean): Promise<number> =>
    streaming(browser, `${origin}/t/${await makeThread(origin)}`, (opened) => frameRate(opened, scrolls))
  return [row('streams', await rate(false)), row('streams and scrolls back', await rate(true))]
}

/** A thread of questions, each with an answer in Markdown, of which the last is complete. */
async function makeThread(apiUrl: string): Promise<string> {
  const client = new Client({ apiUrl })
  const { thread_id } = await client.threads.create({ graphId: 'agent' })
  const messages = Array.from({ length: MESSAGES }, (_, at) =>
    at % 2 === 0
      ? { type: 'human', id: `message-${at}`, content: `Question ${at}` }
      : { type: 'ai', id: `message-${at}`, content: MARKDOWN },
  )
  // As if the model had written them: otherwise the graph would still have to answer.
  await client.threads.updateState(thread_id, { values: { messages }, asNode: 'model_request' })
  return thread_id
}

/** Opens a page, asks for a long answer, measures while it is being written, and stops it. */
async function streaming<Result>(
  browser: Browser,
  url: string,
  measure: (opened: Page) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const opened = await context.newPage()
  opened.setDefaultTimeout(60_000)
  await opened.goto(url)
  await submit(opened, 'Tell me a long story')
  await opened.getByRole('log').getByText('Once there was').waitFor()
  await opened.waitForTimeout(1_000)
  const result = await measure(opened)
  await opened.getByRole('button', { name: 'Stop', exact: true }).click()
  await context.close()
  return result
}

/** CPU time of the page's main thread for a token, in milliseconds. */
interface Cost {
  readonly script: number
  readonly layout: number
  readonly all: number
}

async function costOfToken(opened: Page): Promise<Cost> {
  const client = await opened.context().newCDPSession(opened)
  await client.send('Performance.enable', { timeDomain: 'threadTicks' })
  const look = async () => {
    const { metrics } = await client.send('Performance.getMetrics')
    const seconds = (name: string): number => metrics.find((metric) => metric.name === name)!.value
    const text = await opened.getByRole('article').last().textContent()
    return {
      script: seconds('ScriptDuration'),
      layout: seconds('LayoutDuration'),
      all: seconds('TaskDuration'),
      // A token of the scripted model is a word.
      words: text!.split(/\s+/).length,
    }
  }
  const before = await look()
  await opened.waitForTimeout(MEASURED_MS)
  const after = await look()
  const cost = (name: keyof Cost): number =>
    ((after[name] - before[name]) * 1000) / (after.words - before.words)
  return { script: cost('script'), layout: cost('layout'), all: cost('all') }
}

const frameRate = (opened: Page, scrolls: boolean): Promise<number> =>
  opened.getByRole('log').evaluate(
    async (log, { scrolls, speed, ms }) => {
      const start = performance.now()
      const end = log.scrollTop
      let count = 0
      let passed = 0
      while (passed < ms) {
        passed = (await new Promise<number>(requestAnimationFrame)) - start
        if (scrolls) log.scrollTop = end - passed * speed
        count += 1
      }
      return (count * 1000) / passed
    },
    { scrolls, speed: SCROLL_SPEED, ms: MEASURED_MS },
  )

await runAlone(import.meta.url, page)
