import type { Browser } from 'playwright-core'

/** What people type, and the page that they look for. */
const GUIDES: Readonly<Record<string, string>> = {
  install: '/docs/quick-start',
  langgraph: '/docs/graphs',
  'tool calls': '/docs/function-agents',
  useStream: '/docs/react',
  interrupt: '/docs/approvals',
  fork: '/docs/history',
  authentication: '/docs/users',
  postgres: '/docs/storage',
  express: '/docs/mounts',
  next: '/docs/next',
  workers: '/docs/runtimes',
  limits: '/docs/limits',
  cors: '/docs/cors',
  cron: '/docs/crons',
  opentelemetry: '/docs/operating',
  devtools: '/docs/devtools',
  useChat: '/docs/ai-sdk',
  copilotkit: '/docs/ag-ui',
  openai: '/docs/openai',
  mcp: '/docs/mcp',
  a2a: '/docs/a2a',
  resume: '/docs/react',
  observability: '/docs/operating',
  docker: '/docs/docker',
  memory: '/docs/memory',
  redis: '/docs/storage',
  websocket: '/docs/mounts',
  clerk: '/docs/sign-in',
  webhooks: '/docs/platform',
  testing: '/docs/testing',
  'stream modes': '/docs/frames',
  assistants: '/docs/assistants',
}

/** The queries whose first hit is another page than their guide. */
export async function missedGuides(browser: Browser, origin: string): Promise<string[]> {
  const page = await browser.newPage()
  await page.goto(`${origin}/docs/`)
  await page.getByRole('button', { name: 'Search' }).click()
  const box = page.getByRole('searchbox')
  const hits = page.locator('#localsearch-list a')
  const missed: string[] = []
  for (const [query, guide] of Object.entries(GUIDES)) {
    await box.fill('')
    await hits.first().waitFor({ state: 'detached' })
    await box.fill(query)
    const hit = new URL((await hits.first().getAttribute('href'))!, origin)
    if (hit.pathname !== guide) missed.push(`${query}: ${hit.pathname}${hit.hash}, not ${guide}`)
  }
  await page.close()
  return missed
}
