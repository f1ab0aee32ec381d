import { describe } from 'vitest'
import { executablePath } from '../kit/browser.ts'
import { newer } from './newer.ts'
import { older } from './older.ts'
import { openSite } from './site.ts'

describe.runIf(executablePath !== undefined || process.env.CI === '1')(
  'hooks of LangChain on a page of another port',
  () => {
    const open = openSite()
    describe('useStream of @langchain/react over web sockets', () => newer(open))
    describe('useStream of @langchain/langgraph-sdk/react', () => older(open))
  },
)
