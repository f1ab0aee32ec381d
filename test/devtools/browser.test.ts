import { createServer, type Server } from 'node:http'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { toNode } from '../../adapters/node.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentServer, createAgentServer, defineAgent } from '../../src/index.ts'
import { researchers, supervised, threeSteps, twoApprovals } from '../fixtures/graphs.ts'
import { violations } from '../kit/axe.ts'
import { executablePath, launchBrowser } from '../kit/browser.ts'
import { listen } from '../kit/listen.ts'
import { eventually, gate } from '../kit/wait.ts'
import { branching, guarded } from './graphs.ts'
import { trips } from './trips.ts'

const question = { messages: [{ type: 'human', content: 'x?' }] }

if (executablePath === undefined)
  console.warn('No chromium on the path: the browser tests of the devtools are skipped.')

/** Takes no messages: its schema makes a form. */
const weather = defineAgent({
  input: z.object({
    city: z.string().describe('Where it is'),
    days: z.number().optional(),
    unit: z.enum(['°C', '°F']),
  }),
  async run({ input, message }) {
    await message(JSON.stringify(input))
  },
})

/** A counter that ticks as fast as it is asked to. */
function ticking() {
  let tick = gate()
  const agent = defineAgent({
    async run({ custom, subagent, signal }) {
      await Promise.all(
        ['left', 'right'].map((name) =>
          subagent(name, `Go ${name}`, async (inner) => {
            await inner.tool(`look ${name}`, {}, async () => name)
          }),
        ),
      )
      for (let count = 1; count <= 3; count++) {
        await Promise.race([tick.opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        tick = gate()
        await custom('tick', { count })
      }
    },
  })
  return { agent, tick: () => tick.open() }
}

describe.runIf(executablePath !== undefined || process.env.CI === '1')('the devtools in a browser', () => {
  let browser: Browser
  let server: AgentServer
  let http: Server
  let port: number
  let page: Page
  let problems: string[]
  let ticks: ReturnType<typeof ticking>
  /** What the slow step of `branching` waits for. */
  let source: ReturnType<typeof gate>
  /** What the steps were configured with. */
  let colors: unknown[]

  /** Makes the server reachable, on the port that it had before. */
  async function connect() {
    // Errors of the transport come from connections that the tests break.
    http = createServer(toNode(server, { onError() {} }))
    port = await listen(http, port)
  }
  /** Nobody can reach the server any more, while its runs go on. */
  async function disconnect() {
    const closed = new Promise((resolve) => http.close(resolve))
    http.closeAllConnections()
    await closed
  }
  const begin = (threadId: string, assistantId: string, input: unknown, title?: string) =>
    server.engine.start({ threadId, assistantId, input, title, principal: { id: 'ann' } })
  const ended = async (threadId: string, assistantId: string, input: unknown, title?: string) => {
    const { runId } = await begin(threadId, assistantId, input, title)
    return server.engine.wait({ threadId, runId, principal: { id: 'ann' } })
  }

  /** A page of a user, who is known by a cookie. Everything that it logs is a problem. */
  async function open(path: string, options: BrowserContextOptions & { readonly user?: string } = {}) {
    const { user = 'ann', ...context } = options
    const made = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...context })
    await made.addCookies([{ name: 'user', value: user, url: `http://127.0.0.1:${port}` }])
    const opened = await made.newPage()
    opened.setDefaultTimeout(60_000)
    opened.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
    })
    opened.on('pageerror', (error) => problems.push(error.message))
    await opened.goto(`http://127.0.0.1:${port}/devtools#/${path}`)
    return opened
  }

  beforeAll(async () => {
    browser = await launchBrowser()
  })
  beforeEach(async () => {
    problems = []
    colors = []
    ticks = ticking()
    source = gate()
    server = createAgentServer({
      agents: {
        deep: langgraph(researchers()),
        steps: langgraph(threeSteps((_, { configurable }) => void colors.push(configurable?.color))),
        asks: langgraph(supervised()),
        two: langgraph(twoApprovals()),
        guarded: langgraph(guarded()),
        branching: langgraph(branching(() => source.opened)),
        ticks: ticks.agent,
        trips: langgraph(trips()),
        weather,
      },
      authenticate: (request) => {
        const user = /user=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1]
        return user ? { id: user } : null
      },
      devtools: true,
    })
    port = 0
    await connect()
  })
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    await server.close()
    await disconnect()
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
  })

  test('lists threads newest first, finds them, and shows new ones by itself', async () => {
    for (const name of ['one', 'two', 'three'])
      await ended(`t-${name}`, 'steps', { notes: [] }, `Talk ${name}`)
    page = await open('')
    const titles = page.locator('.threads .title')
    await titles.nth(2).waitFor()
    expect(await titles.allInnerTexts()).toEqual(['Talk three', 'Talk two', 'Talk one'])
    await ended('t-four', 'steps', { notes: [] }, 'Talk four')
    await page.locator('.threads .title', { hasText: 'Talk four' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('two')
    await eventually(async () => (await titles.count()) === 1)
    expect(await titles.allInnerTexts()).toEqual(['Talk two'])
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.getByRole('heading', { name: 'Talk two' }).waitFor()
    await page.getByLabel('Search threads').fill('')
    await eventually(async () => (await titles.count()) === 4)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    // Where none is chosen the newest one is shown.
    await page.getByRole('heading', { name: 'Talk four' }).waitFor()
    await ended('t-five', 'steps', { notes: [] }, 'Talk five')
    await page.getByRole('heading', { name: 'Talk five' }).waitFor()
    await page.keyboard.press('j')
    await eventually(async () => page.url().endsWith('#/threads/t-five/conversation'))
    await page.locator('.threads [aria-current]', { hasText: 'Talk five' }).waitFor()
    await page.keyboard.press('J')
    await page.getByRole('heading', { name: 'Talk four' }).waitFor()
    await page.keyboard.press('J')
    await page.getByRole('heading', { name: 'Talk three' }).waitFor()
  })

  test('shows a thread as a conversation, with calls, subagents and questions that are answered there', async () => {
    await ended('deep', 'deep', question, 'Deep')
    page = await open('threads/deep')
    const messages = page.getByRole('log', { name: 'Messages' })
    await messages.getByText('The answer is 5.').waitFor()
    expect(await messages.getByText('x?', { exact: true }).count()).toBe(1)
    const task = messages.locator('details.call').first()
    expect(await task.locator(':scope > summary').innerText()).toMatch(/task\s+done/)
    expect(await task.locator('.inner').getByText('x is 5').first().isVisible()).toBe(true)

    await ended('mail', 'asks', question)
    await page.goto(page.url().replace('deep', 'mail'))
    await messages.getByRole('heading', { name: 'Approve add?' }).waitFor()
    await messages.getByRole('button', { name: 'Approve', exact: true }).click()
    await messages.getByText('Done.').waitFor()
    await expect.poll(() => messages.getByRole('heading', { name: 'Approve add?' }).count()).toBe(0)
    await page.getByLabel('Message', { exact: true }).fill('Again?')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('Please.')
    await page.keyboard.press('Enter')
    await messages.getByText('Again?\nPlease.').waitFor()
    await messages.getByRole('heading', { name: 'Approve add?' }).waitFor()
    // A message would be taken for the answer.
    await page.getByText('Answer the question above to go on').waitFor()
    await expect.poll(() => page.getByLabel('Message', { exact: true }).count()).toBe(0)
  })

  test('shows a question in words, takes its answer as text, and says where a hidden error is', async () => {
    const about = (content: string) => ({ messages: [{ type: 'human', content }] })
    await ended('mars', 'trips', about('Mars'))
    page = await open('threads/mars')
    const messages = page.getByRole('log', { name: 'Messages' })
    await messages.getByText('Really?', { exact: true }).waitFor()
    await messages.getByLabel('Answer, as JSON').fill('yes, please')
    await messages.getByRole('button', { name: 'Send as text' }).click()
    await messages.getByText('Asked: yes, please').waitFor()

    await ended('atlantis', 'trips', about('Atlantis'))
    await page.goto(page.url().replace('mars', 'atlantis'))
    const alert = page.getByRole('alert')
    await alert.getByText(/Error id: [\w-]+\. The server’s output has the error/).waitFor()
    await expect.poll(() => alert.count()).toBe(1)
    await page.getByRole('tab', { name: 'Log' }).click()
    await page.getByRole('row', { name: 'lifecycle' }).first().waitFor()
    await expect.poll(() => alert.count()).toBe(1)
  })

  test('stops at breakpoints that are set in the graph and the run box, and goes on with one click', async () => {
    await ended('t', 'steps', { notes: [] })
    page = await open('threads/t/graph')
    const mark = page.getByRole('checkbox', { name: 'Breakpoint before two' })
    await mark.focus()
    await page.keyboard.press('Space')
    await eventually(async () => (await mark.getAttribute('aria-checked')) === 'true')
    await page.reload()
    await eventually(async () => (await mark.getAttribute('aria-checked')) === 'true')
    await page.getByRole('tab', { name: 'Conversation' }).click()
    await page.getByRole('button', { name: 'JSON input' }).click()
    await page.getByLabel('Input, as JSON').fill('{"notes":["given"]}')
    await page.getByText('Breakpoints 1').click()
    expect(await page.getByRole('checkbox', { name: 'before two' }).isChecked()).toBe(true)
    await page.getByRole('checkbox', { name: 'after two' }).check()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Start a run' }).click()
    const status = page.locator('.stopped')
    await status.getByText('Stopped at a breakpoint, before two').waitFor()
    await status.getByRole('button', { name: 'Continue' }).click()
    await status.getByText('Stopped at a breakpoint, before three').waitFor()
    await page.getByRole('tab', { name: 'Graph' }).click()
    await page.getByRole('checkbox', { name: 'Breakpoint after two' }).click()
    await mark.click()
    await status.getByRole('button', { name: 'Continue' }).click()
    await status.waitFor({ state: 'detached' })
    const find = () => server.engine.findThread({ threadId: 't', principal: { id: 'ann' } })
    await eventually(async () => (await find())!.status === 'idle')
    const notes = ['one', 'two', 'three']
    const state = await server.engine.readState((await find())!)
    expect(state!.values.notes).toEqual([...notes, 'given', ...notes])
  })

  test('runs a step again with what follows it, and a whole run', async () => {
    await ended('t', 'steps', { notes: ['in'] })
    page = await open('threads/t/steps')
    const names = page.locator('.span .name')
    const texts = async () => (await names.allInnerTexts()).map((text) => text.trim())
    await names.filter({ hasText: 'two' }).click()
    const tree = page.getByRole('tree', { name: 'Steps' })
    await tree.focus()
    await page.keyboard.press('ArrowUp')
    const active = page.locator(`#${await tree.getAttribute('aria-activedescendant')}`)
    await active.filter({ hasText: 'one' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await active.filter({ hasText: 'two' }).waitFor()
    await page.getByRole('button', { name: 'Run again from here' }).click()
    await eventually(async () => (await texts()).join() === 'run steps,two,three')
    const hasEnded = async () => {
      const thread = await server.engine.findThread({ threadId: 't', principal: { id: 'ann' } })
      if (thread!.status !== 'idle') return false
      const { notes } = (await server.engine.readState(thread!))!.values
      return String(notes) === 'in,one,two,three'
    }
    await eventually(hasEnded)
    // The first run, of which the second one was a part.
    await page.getByLabel('Run', { exact: true }).selectOption({ index: 1 })
    await names.filter({ hasText: 'run steps' }).click()
    await page.getByRole('button', { name: 'Run again', exact: true }).click()
    await eventually(
      async () => (await page.getByLabel('Run', { exact: true }).locator('option').count()) === 3,
    )
    await eventually(async () => (await texts()).join() === 'run steps,one,two,three')
    await eventually(hasEnded)
  })

  test('makes a form of the schema of an input, and JSON of the form', async () => {
    page = await open('new')
    await page.getByLabel('Agent', { exact: true }).selectOption('weather')
    await page.getByLabel('city').fill('Bern')
    expect(await violations(page)).toEqual([])
    const start = page.getByRole('button', { name: 'Start a run' })
    expect(await start.isDisabled()).toBe(true)
    await page.getByLabel('unit').selectOption('°C')
    await page.getByLabel('days').fill('3')
    await page.getByRole('button', { name: 'JSON input' }).click()
    const json = await page.getByLabel('Input, as JSON').inputValue()
    expect(JSON.parse(json)).toEqual({ city: 'Bern', days: 3, unit: '°C' })
    await page.getByRole('button', { name: 'Form' }).click()
    expect(await page.getByRole('button', { name: 'Message' }).count()).toBe(0)
    await page.getByLabel('days').press('Enter')
    await page.getByRole('log').getByText('{"city":"Bern","days":3,"unit":"°C"}').waitFor()
    // The thread has its agent now.
    await expect.poll(() => page.getByLabel('Agent', { exact: true }).count()).toBe(0)
  })

  test('starts a thread with any agent, input and config, and stops a run', async () => {
    page = await open('')
    await page.getByRole('link', { name: 'New thread' }).click()
    await page.getByLabel('Agent', { exact: true }).selectOption('steps')
    await page.getByRole('button', { name: 'JSON input' }).click()
    const input = page.getByLabel('Input, as JSON')
    await input.fill('{"notes":')
    await page.getByRole('alert').getByText('This is not JSON').waitFor()
    expect(await page.getByRole('button', { name: 'Start a run' }).isDisabled()).toBe(true)
    await input.fill('{"notes":["given"]}')
    await page.getByLabel('Config, as JSON').fill('{"configurable":{"color":"red"}}')
    await page.getByRole('button', { name: 'Start a run' }).click()
    await page.getByText('This thread has no messages.').waitFor()
    await page.locator('.thread > header .status', { hasText: 'idle' }).waitFor()
    const threadId = /threads\/([^/]+)/.exec(page.url())![1]!
    const thread = await server.engine.findThread({ threadId, principal: { id: 'ann' } })
    expect((await server.engine.readState(thread!))!.values.notes).toEqual(['given', 'one', 'two', 'three'])
    expect(colors).toEqual(['red', 'red', 'red'])

    await begin('live', 'ticks', {})
    await page.goto(page.url().replace(/#.*/, '#/threads/live'))
    await page.getByRole('log').getByRole('button', { name: 'Stop' }).click()
    await eventually(
      async () => (await page.getByRole('log').getByRole('button', { name: 'Stop' }).count()) === 0,
    )
  })

  test('shows events as they come, with their size and latency, filters them and pauses', async () => {
    await begin('live', 'ticks', {}, 'Live')
    page = await open('threads/live/log')
    await page.getByRole('row', { name: 'lifecycle' }).first().waitFor()
    expect(await page.locator('.threads .status').innerText()).toBe('running')
    ticks.tick()
    const rows = page.getByRole('row', { name: 'custom:tick' })
    await rows.nth(0).waitFor()
    const cells = await rows.nth(0).getByRole('gridcell').allInnerTexts()
    expect(cells[5]).toMatch(/^\d+ B$/)
    expect(cells[6]).toMatch(/^\d+ ms$/)
    await page.getByRole('button', { name: 'Pause' }).click()
    ticks.tick()
    await page.getByRole('button', { name: /Go on \([1-9]\d* new\)/ }).waitFor()
    expect(await rows.count()).toBe(1)
    await page.getByRole('button', { name: /Go on/ }).click()
    await eventually(async () => (await rows.count()) === 2)
    await page.getByRole('button', { name: /^custom:tick/ }).click()
    await eventually(async () => (await page.locator('.rows [role=rowgroup] .row').count()) === 2)
    await rows.nth(1).click()
    // The address has the selection, and the page follows it a moment later.
    const event = page.getByLabel('Event', { exact: true })
    await event.filter({ hasText: 'count: 2' }).waitFor()
    await page.keyboard.press('k')
    await event.filter({ hasText: 'count: 1' }).waitFor()
    const grid = page.getByRole('grid', { name: 'Events' })
    await grid.focus()
    await page.keyboard.press('ArrowDown')
    await event.filter({ hasText: 'count: 2' }).waitFor()
    const active = page.locator(`#${await grid.getAttribute('aria-activedescendant')}`)
    await active.filter({ hasText: 'custom:tick' }).waitFor()
    await page.keyboard.press('Escape')
    await event.waitFor({ state: 'detached' })
    ticks.tick()
    await page.locator('.thread > header .status', { hasText: 'idle' }).waitFor()
  })

  test('shows two subagents side by side on the time axis, and a deep agent with its steps', async () => {
    await begin('live', 'ticks', {})
    page = await open('threads/live/steps')
    const names = page.locator('.span .name')
    await names.filter({ hasText: 'right' }).first().waitFor()
    await eventually(async () => (await names.count()) >= 6)
    const texts = (await names.allInnerTexts()).map((text) => text.trim())
    for (const text of ['agent left', 'agent right', 'tool look left', 'tool look right'])
      expect(texts).toContain(text)
    const bars = await page.locator('.span.subagent .bar-of').all()
    const boxes = await Promise.all(bars.map((bar) => bar.boundingBox()))
    expect(boxes[0]!.x + boxes[0]!.width).toBeGreaterThan(boxes[1]!.x)

    await ended('deep', 'deep', question)
    await page.goto(page.url().replace('live', 'deep'))
    await names.filter({ hasText: 'researcher' }).waitFor()
    await page.locator('.span.subagent').click()
    const facts = await page.getByLabel('Step', { exact: true }).innerText()
    expect(facts).toMatch(/done[\s\S]*after the run[\s\S]*description: "Find x"[\s\S]*x is 5/)
  })

  test('folds the steps and the events of middleware, and remembers who wants to see them', async () => {
    await ended('t', 'guarded', question)
    page = await open('threads/t/steps')
    const names = page.locator('.span .name')
    await names.nth(6).waitFor()
    const STEPS = ['run guarded', 'model_request', 'model', 'tools', 'tool add', 'model_request', 'model']
    const texts = async () => (await names.allInnerTexts()).map((text) => text.trim())
    expect(await texts()).toEqual(STEPS)
    await page.getByRole('tab', { name: 'Log' }).click()
    const events = page.getByRole('row', { name: /after_agent/ })
    await page.getByRole('row', { name: 'model_request begins' }).first().waitFor()
    expect(await events.count()).toBe(0)
    await page.getByRole('button', { name: /^\d+ middleware events$/ }).click()
    await events.first().waitFor()
    await page.reload()
    await events.first().waitFor()
    await page.getByRole('tab', { name: 'Steps' }).click()
    await names.filter({ hasText: 'Limits.before_agent' }).click()
    await page.getByLabel('Step', { exact: true }).waitFor()
    // A selected step is in the address, and stays where the others are folded.
    await page.getByRole('button', { name: '10 middleware steps' }).click()
    await eventually(async () => (await names.count()) === 8)
    expect(await texts()).toContain('Limits.before_agent')
    await page.keyboard.press('Escape')
    await eventually(async () => (await names.count()) === 7)
  })

  test('draws the graph of the agent with the step that runs, and what was done, failed and asked', async () => {
    await begin('slow', 'branching', { path: 'slow' })
    page = await open('threads/slow/graph')
    const graph = page.getByRole('group', { name: 'Graph of branching' })
    const node = (name: string) => graph.getByRole('link', { name })
    await node('wait, running').waitFor()
    await page.getByText('Running: wait').waitFor()
    expect(await node('route, done once').count()).toBe(1)
    expect(await graph.getByRole('img', { name: 'write, not run' }).count()).toBe(1)
    expect(await graph.locator('.box', { hasText: 'research' }).count()).toBe(1)
    expect(await graph.locator('.edge.conditional').count()).toBe(4)
    expect(await graph.locator('.edge', { hasText: 'needs a person' }).count()).toBe(1)
    const edges = page.getByRole('list', { name: 'Edges' })
    expect(await edges.textContent()).toContain('route leads to ask, if it chooses needs a person')
    source.open()
    await node('wait, done once').waitFor()
    await page.getByText('This run is done').waitFor()

    await ended('t-ask', 'branching', { path: 'needs a person' })
    await page.goto(page.url().replace('slow', 't-ask'))
    await node('ask, interrupted').waitFor()
    await ended('t-broken', 'branching', { path: 'broken' })
    await page.goto(page.url().replace('t-ask', 't-broken'))
    await node('fail, failed').waitFor()
    await ended('t-research', 'branching', { path: 'research' })
    await page.goto(page.url().replace('t-broken', 't-research'))
    await graph.getByRole('img', { name: 'Subgraph research, done once' }).waitFor()
    expect(await node('search, done once').count()).toBe(1)
    // What a function does is in no graph.
    await begin('live', 'ticks', {})
    await page.goto(page.url().replace('t-research', 'live'))
    await page.getByText('ticks has no graph').waitFor()
    await server.engine.createThread({ threadId: 'empty', principal: { id: 'ann' } })
    await page.goto(page.url().replace('live', 'empty'))
    await page.getByText('This thread has no agent yet.').waitFor()
  })

  test('leads from a node to its newest step and back, folds middleware, and is moved by keys', async () => {
    await ended('t', 'guarded', question)
    page = await open('threads/t/graph')
    const graph = page.getByRole('group', { name: 'Graph of guarded' })
    await graph.getByRole('link', { name: 'before model, 2 middlewares, done 4 times' }).waitFor()
    expect(await graph.locator('.node').count()).toBe(8)
    await page.getByRole('button', { name: '6 middleware nodes' }).click()
    await graph.getByRole('link', { name: 'Redact, before model, done 2 times' }).click()
    const selected = page.locator('.span.selected')
    expect(await selected.innerText()).toContain('Redact.before_model')
    await page.goBack()
    await page.getByRole('button', { name: '6 middleware nodes' }).click()
    await graph.getByRole('link', { name: 'tools, add, done once' }).click()
    expect(await selected.innerText()).toContain('tools')
    await page.getByRole('link', { name: 'Show in the graph' }).click()
    await graph.locator('.node.marked', { hasText: 'tools' }).waitFor()
    // A step of a middleware that is folded is in the node of its phase.
    await page.goBack()
    await page.getByRole('button', { name: '10 middleware steps' }).click()
    await page.locator('.span', { hasText: 'Redact.before_model' }).first().click()
    await page.getByRole('link', { name: 'Show in the graph' }).click()
    await page.getByRole('button', { name: '6 middleware nodes' }).click()
    await graph.locator('.node.marked', { hasText: 'before model' }).waitFor()

    const drawing = graph.locator('svg > g')
    const before = await drawing.getAttribute('transform')
    await graph.focus()
    await page.keyboard.press('+')
    await page.keyboard.press('ArrowLeft')
    await eventually(async () => (await drawing.getAttribute('transform')) !== before)
    expect(await drawing.getAttribute('transform')).toContain('scale(1.25)')
    await page.keyboard.press('0')
    await eventually(async () => (await drawing.getAttribute('transform')) === before)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/steps\//)
    await page.goBack()
    // A drag moves the graph, and is no click on the node below it.
    const tools = graph.getByRole('link', { name: 'tools' })
    const { x, y } = (await tools.boundingBox())!
    await page.mouse.move(x + 20, y + 20)
    await page.mouse.down()
    await page.mouse.move(x + 90, y + 60, { steps: 3 })
    await page.mouse.up()
    const after = (await tools.boundingBox())!
    expect([after.x - x, after.y - y].map(Math.round)).toEqual([70, 40])
    expect(page.url()).toContain('/graph')
  })

  test('shows what each checkpoint has changed, and forks from one', async () => {
    await ended('t', 'steps', { notes: ['in'] })
    page = await open('threads/t/state')
    await page.getByRole('button', { name: '1 loop → two' }).click()
    const changes = page.getByLabel('Changes since the checkpoint before')
    await page.getByRole('heading', { name: 'Step 1' }).waitFor()
    expect(await changes.innerText()).toMatch(/^\+ notes\[1\][\s\S]*"one"$/)
    await page.getByRole('button', { name: 'Whole state' }).click()
    expect(await page.locator('.checkpoint .json').innerText()).toMatch(/"in"\s+1: "one"/)
    await page.getByRole('button', { name: 'Fork from here' }).click()
    const input = page.getByLabel('Input of the new run')
    await input.fill('{"notes":')
    await page.getByRole('alert').getByText('This is not JSON').waitFor()
    await input.fill('{"notes":["forked"]}')
    await page.getByRole('button', { name: 'Start a run from step 1' }).click()
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByText('fork of').waitFor()
    await page.locator('.runs .status', { hasText: 'done' }).nth(1).waitFor()
    const thread = await server.engine.findThread({ threadId: 't', principal: { id: 'ann' } })
    expect((await server.engine.readState(thread!))!.values.notes).toContain('forked')
  })

  test('answers an approval by a button, and two questions together', async () => {
    await ended('mail', 'asks', question)
    page = await open('threads/mail/interrupts')
    await page.getByRole('heading', { name: 'Approve add?' }).waitFor()
    await page.getByRole('button', { name: 'Edit the arguments' }).click()
    expect(await page.getByLabel('Answer, as JSON').inputValue()).toContain('"type": "edit"')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Nothing waits for an answer.').waitFor()
    await page.locator('.thread > header .status', { hasText: 'idle' }).waitFor()

    await ended('both', 'two', { notes: [] })
    await page.goto(page.url().replace('mail', 'both'))
    const answers = page.getByLabel('Answer, as JSON')
    await answers.nth(1).waitFor()
    await answers.nth(0).fill('"go"')
    await answers.nth(1).fill('"stay"')
    await page.getByRole('button', { name: 'Answer all 2 together' }).click()
    await page.getByText('Nothing waits for an answer.').waitFor()
    await page.locator('.thread > header .status', { hasText: 'idle' }).waitFor()
    const thread = await server.engine.findThread({ threadId: 'both', principal: { id: 'ann' } })
    expect((await server.engine.readState(thread!))!.values.notes).toEqual([
      'left: go',
      'right: stay',
      'after',
    ])
  })

  test('says that the server is away, and goes on without a gap when it is back', async () => {
    await begin('live', 'ticks', {})
    page = await open('threads/live/log')
    await page.getByRole('row', { name: 'lifecycle' }).first().waitFor()
    await disconnect()
    await page.getByText(/The (server cannot be reached|connection was lost)/).waitFor()
    ticks.tick()
    await connect()
    await page.getByRole('row', { name: 'custom:tick' }).waitFor()
    await eventually(async () => (await page.locator('.away').count()) === 0)
    ticks.tick()
    await eventually(async () => (await page.getByRole('row', { name: 'custom:tick' }).count()) === 2)
    const seqs = (await page.locator('.rows [role=rowgroup] .row > :first-child').allInnerTexts()).map(Number)
    expect(seqs).toEqual(seqs.map((_, index) => seqs[0]! + index))
    // A browser logs each connection that fails.
    problems = problems.filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE/.test(text))
  })

  test('a thread that was deleted is said to be gone, and one made again under its id begins anew', async () => {
    await ended('t', 'steps', { notes: ['first'] }, 'The first')
    page = await open('threads/t/log')
    await page.getByRole('row', { name: 'lifecycle' }).first().waitFor()
    await server.engine.deleteThread({ threadId: 't', principal: { id: 'ann' } })
    await page.getByText('Thread with ID t not found').waitFor()
    await ended('t', 'steps', { notes: ['second'] }, 'The second')
    await page.getByRole('heading', { name: 'The second' }).waitFor()
    await page.getByRole('row', { name: 'values' }).last().click()
    expect(await page.getByLabel('Event', { exact: true }).innerText()).toContain('second')
    // A browser logs each answer that is an error.
    problems = problems.filter((text) => !/404|ERR_INCOMPLETE/.test(text))
  })

  test('shows another owner nothing', async () => {
    await ended('secret', 'steps', { notes: ['private'] }, 'Private talk')
    page = await open('', { user: 'bob' })
    await page.getByText('There are no threads yet.').waitFor()
    await page.goto(page.url().replace(/#.*/, '#/threads/secret/log'))
    await page.getByText('Thread with ID secret not found').waitFor()
    expect(await page.locator('body').innerText()).not.toContain('Private')
    problems = problems.filter((text) => !/404|ERR_INCOMPLETE/.test(text))
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('axe finds nothing serious in %s at a width of %i', async (colorScheme, width) => {
    await ended('deep', 'deep', question, 'A deep one')
    await ended('mail', 'asks', question, 'Mail')
    await ended('agent', 'guarded', question, 'Guarded')
    await ended('ways', 'branching', { path: 'needs a person' }, 'Ways')
    await begin('live', 'ticks', {}, 'Live')
    page = await open('', { colorScheme, viewport: { width, height: 800 } })
    await page.locator('.threads .title').nth(2).waitFor()
    expect(await violations(page)).toEqual([])
    const views: readonly (readonly [path: string, shown: string])[] = [
      ['threads/deep/conversation', '.call .inner'],
      ['threads/mail/conversation', '.question textarea'],
      ['new', '.composer button.primary'],
      ['threads/deep/log', '.row .channel'],
      ['threads/deep/steps', '.span.subagent'],
      ['threads/agent/graph', '.node.middleware.completed'],
      ['threads/ways/graph', '.node.interrupted'],
      ['threads/deep/state', '.changes li'],
      ['threads/mail/interrupts', '.question textarea'],
      ['threads/deep/runs', '.runs td .status'],
      ['server', '.tiles dd'],
    ]
    for (const [path, shown] of views) {
      await page.goto(page.url().replace(/#.*/, `#/${path}`))
      await page.locator(shown).first().waitFor()
      expect([path, await violations(page)]).toEqual([path, []])
      const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement)
      expect([path, scrollWidth]).toEqual([path, clientWidth])
    }
    for (let i = 0; i < 3; i++) ticks.tick()
  })
})
