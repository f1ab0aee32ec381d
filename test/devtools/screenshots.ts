/** Takes the pictures of the devtools for the docs: `npx tsx test/devtools/screenshots.ts` writes them to docs/public/devtools. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from '../../.ci/pages.ts'
import { toNode } from '../../adapters/node.ts'
import { deepAgent, secretaryAgent } from '../../examples/chat/server/agents/graphs.ts'
import { chooseModels } from '../../examples/chat/server/models/models.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer } from '../../src/index.ts'
import { launchBrowser } from '../kit/browser.ts'
import { openServer } from '../kit/listen.ts'
import { webpOf } from '../kit/webp.ts'

const FOLDER = fileURLToPath(new URL('../../docs/public/devtools', import.meta.url))

/** The agents of the chat with their scripted model. */
const models = await chooseModels({ SPEED: '300' })
const server = createAgentServer({
  agents: { agent: langgraph(deepAgent(models)), secretary: langgraph(secretaryAgent(models)) },
  devtools: true,
})

async function ask(assistantId: string, threadId: string, title: string): Promise<void> {
  const input = { messages: [{ type: 'human', content: title }] }
  const { runId } = await server.engine.start({ threadId, assistantId, input, title })
  await server.engine.wait({ threadId, runId })
}

const { html, layout } = await compile()
const handle = toNode(server)
const http = await openServer(
  // The sources have no compiled page.
  createServer((request, response) =>
    request.url === '/devtools'
      ? response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
      : request.url === '/devtools/api/layout'
        ? response
            .setHeader('content-type', 'application/json')
            .end(JSON.stringify({ script: layout.script }))
        : handle(request, response),
  ),
)
const browser = await launchBrowser()
try {
  await ask('agent', 'report', 'Write a report about coffee')
  await ask('secretary', 'email', 'Email ada@example.com that lunch is at noon')
  await ask('agent', 'sum', 'What is 12 * (3 + 4), and what is a checkpoint?')
  mkdirSync(FOLDER, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({
      viewport: { width: 1200, height: 750 },
      deviceScaleFactor: 1.5,
      reducedMotion: 'reduce',
      colorScheme,
    })
    await page.goto(`${http.origin}/devtools#/threads/sum/steps`)
    await page.getByRole('tab', { name: 'Steps', selected: true }).waitFor()
    await page.getByText('calculator').first().waitFor()
    writeFileSync(join(FOLDER, `steps-${colorScheme}.webp`), await webpOf(page))
    await page.close()
  }
  const page = await browser.newPage({
    viewport: { width: 1000, height: 560 },
    deviceScaleFactor: 1.5,
    reducedMotion: 'reduce',
    colorScheme: 'light',
  })
  await page.goto(`${http.origin}/devtools#/threads/sum/graph`)
  await page.getByRole('checkbox', { name: 'Breakpoint before tools' }).click()
  await page.getByRole('tab', { name: 'Conversation' }).click()
  await page.getByLabel('Message', { exact: true }).fill('And what is 7 * 8?')
  await page.keyboard.press('Enter')
  await page.getByText('Stopped at a breakpoint, before tools').waitFor()
  await page.getByRole('tab', { name: 'Graph' }).click()
  await page.getByRole('link', { name: /^model_request, / }).waitFor()
  writeFileSync(join(FOLDER, 'graph-light.webp'), await webpOf(page))
} finally {
  await browser.close()
  await http.close()
  await server.close()
}
