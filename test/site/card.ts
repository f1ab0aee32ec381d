/** Takes the picture that cards of links to the site show, docs/public/card.png: `npx tsx test/site/card.ts` */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '../kit/browser.ts'
import { root } from '../package/package.ts'

const fileOf = (path: string) => readFileSync(join(root, path))
const font = fileOf('examples/chat/app/fonts/geist.woff2').toString('base64')

const CARD = `
<style>
  @font-face { font-family: Geist; font-weight: 100 900; src: url(data:font/woff2;base64,${font}) }
  body { display: grid; align-content: center; gap: 36px; height: 630px; margin: 0; padding: 0 90px; box-sizing: border-box;
    background: #fff; color: #18181b; font-family: Geist; }
  header { display: flex; align-items: center; gap: 22px; font-size: 44px; font-weight: 620; letter-spacing: -0.02em }
  header svg { width: 72px; height: 72px }
  h1 { margin: 0; font-size: 84px; font-weight: 650; line-height: 1.06; letter-spacing: -0.035em }
  p { margin: 0; color: #52525b; font-size: 31px; line-height: 1.4 }
</style>
<header>${fileOf('examples/chat/app/icon.svg')}agentwire</header>
<h1>Serve AI agents from the server you already have</h1>
<p>Express, Fastify, Hono, Next.js and node:http. Clients of LangGraph, the AI SDK, AG-UI, MCP, OpenAI and A2A work unmodified.</p>`

const browser = await launchBrowser()
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
await page.setContent(CARD)
await page.evaluate(() => document.fonts.ready)
await page.screenshot({ path: join(root, 'docs/public/card.png') })
await browser.close()
