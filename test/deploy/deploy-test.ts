import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { systemClock } from '../../lib/clock.ts'
import { runCommand } from '../../lib/local/command.ts'
import { seconds } from '../../lib/units.ts'
import { templateAssertions } from '../helpers/template-assertions.ts'
import { countOf, holdings } from './account.ts'
import { type ArtifactRun, runArtifact } from './artifact-run.ts'
import { runContract } from './contract-run.ts'
import { type Moto, startMoto } from './moto.ts'
import { artifactFaults, artifacts, packageDir, packagedTemplate, templateFile } from './packaged.ts'
import { pythonPrograms } from './python.ts'
import { brokerAddresses, readBackFaults } from './read-back.ts'
import { root, serverless } from './serverless-cli.ts'

/** The relays that are deployed by the test, and those of this repository: both are packaged and looked at. */
const testService = join(import.meta.dirname, 'service')
const packageMsMax = seconds(60)

export interface DeployTestOptions {
  readonly dir: string
  readonly signal: AbortSignal
  say(line: string): void
}

export interface DeployTestResult {
  /** Findings of cfn-lint. */
  readonly cfnLint: number
  /** Assertions that hold for each template, summed over the templates. */
  readonly templateAssertions: number
  readonly deployed: boolean
  readonly updated: boolean
  readonly removed: boolean
  /** What the account still holds afterwards. */
  readonly leftovers: number
  /** To the first deployment, and one function deployed by itself afterwards. */
  readonly rolledBack: boolean
  /** Tests of the fence store's contract that hold on the deployed table. */
  readonly fenceStoreContract: number
  readonly artifactRun: ArtifactRun
}

export interface DeployTestOutcome {
  readonly result: DeployTestResult
  readonly ok: boolean
  readonly faults: readonly string[]
}

/**
 * Packages offline, reads the templates, deploys to moto, updates, removes, and runs the zip as it was uploaded on a real
 * broker. Stops what it started, however it ends.
 */
export async function runDeployTest(options: DeployTestOptions): Promise<DeployTestOutcome> {
  const test = new DeployTest(options)
  return test.run()
}

class DeployTest {
  readonly #options: DeployTestOptions
  readonly #faults: string[] = []
  #assertionsHeld = 0

  constructor(options: DeployTestOptions) {
    this.#options = options
  }

  async run(): Promise<DeployTestOutcome> {
    const { dir, signal, say } = this.#options
    const programs = await pythonPrograms({ dir: join(dir, 'venv'), signal, say })
    say('packaging the relays of this repository for prod, without credentials')
    const packaged = await this.#packageInTime()
    const ofProd = await this.#lint(programs, packaged)
    say('packaging relays for MSK')
    const ofMsk = await this.#lint(programs, await this.#package(testService, 'msk', ['--param', 'round=msk']))
    const account = await this.#inAccount(programs)
    say('running the packaged function on a real broker, with functions killed at work')
    const artifactDir = join(dir, 'artifact')
    const artifactRun = await runArtifact({ packageDir: packaged, function: 'delays', dir: artifactDir, signal, say })
    const result = {
      cfnLint: ofProd + ofMsk + account.cfnLint,
      templateAssertions: this.#assertionsHeld,
      deployed: account.deployed,
      updated: account.updated,
      removed: account.removed,
      leftovers: account.leftovers,
      rolledBack: account.rolledBack,
      fenceStoreContract: account.contract,
      artifactRun,
    }
    const isDone = result.deployed && result.updated && result.rolledBack && result.removed && result.leftovers === 0
    const isRight = result.cfnLint === 0 && artifactRun.ok && this.#faults.length === 0
    return { result, ok: isDone && isRight, faults: this.#faults }
  }

  /** The life of a stack. Each step says what it found; a step that fails ends it. */
  async #inAccount(programs: string) {
    const { dir, signal, say } = this.#options
    const moto = await startMoto(join(programs, 'python'), join(dir, 'moto.log'), signal)
    try {
      await new SSMClient(moto).send(
        new PutParameterCommand({ Name: '/deploy-test/brokers', Value: brokerAddresses, Type: 'StringList' }),
      )
      const before = countOf(await holdings(moto))
      say('deploying every kind of trigger to moto')
      const first = await this.#deploy(moto, 'first')
      const deployed = await this.#agrees(moto, 'deployed', first)
      const cfnLint = await this.#lint(programs, first)
      say('running the contract of the fence store on the deployed table')
      const contract = await this.#contract(moto)
      say('updating: one relay less, other latencies, more memory')
      const second = await this.#deploy(moto, 'second')
      const updated = await this.#agrees(moto, 'updated', second)
      say('rolling back')
      await this.#serverless(moto, ['rollback', '--timestamp', await timestampOf(first), '--param', 'round=first'])
      const rolledBack = await this.#agrees(moto, 'rolled back', first)
      say('deploying the code of one function')
      await this.#serverless(moto, ['deploy', 'function', '--function', 'dotted', '--param', 'round=first'])
      // The command keeps no zip, but the same sources give the same bytes.
      const again = await this.#package(testService, 'again', ['--param', 'round=first'])
      await cp(join(again, 'dotted.zip'), join(first, 'dotted.zip'))
      const isKept = await this.#agrees(moto, 'after deploy function', first)
      say('removing')
      await this.#serverless(moto, ['remove', '--param', 'round=first'])
      const leftovers = countOf(await holdings(moto)) - before
      const removed = leftovers === 0
      return { cfnLint, deployed, contract, updated, rolledBack: rolledBack && isKept, removed, leftovers }
    } finally {
      await moto.stop()
    }
  }

  /** Answers where its template and zips are kept. */
  async #deploy(moto: Moto, round: string): Promise<string> {
    await this.#serverless(moto, ['deploy', '--param', `round=${round}`])
    return this.#keep(testService, round)
  }

  async #packageInTime(): Promise<string> {
    const beganMs = systemClock.now()
    const packaged = await this.#package(root, 'prod', ['--stage', 'prod'])
    const tookMs = systemClock.now() - beganMs
    if (tookMs > packageMsMax) this.#faults.push(`packaging took ${tookMs} ms, wanted at most ${packageMsMax}`)
    return packaged
  }

  async #package(service: string, name: string, args: readonly string[]): Promise<string> {
    await rm(packageDir(service), { recursive: true, force: true })
    await serverless({ args: ['package', ...args], cwd: service, signal: this.#options.signal })
    return this.#keep(service, name)
  }

  /** The next command writes into the same folder. */
  async #keep(service: string, name: string): Promise<string> {
    const kept = join(this.#options.dir, 'packaged', name)
    await rm(kept, { recursive: true, force: true })
    await cp(packageDir(service), kept, { recursive: true })
    await this.#judgePackage(kept)
    return kept
  }

  async #judgePackage(dir: string): Promise<void> {
    const template = await packagedTemplate(dir)
    for (const { says, faults } of templateAssertions) {
      const found = faults(template)
      if (found.length === 0) this.#assertionsHeld++
      else this.#faults.push(`not so: ${says} (${found.join(', ')})`)
    }
    this.#faults.push(...artifactFaults(await artifacts(dir)))
  }

  /** Whether the account holds what was packaged, and nothing else. */
  async #agrees(moto: Moto, when: string, packaged: string): Promise<boolean> {
    const faults = await readBackFaults(packaged, await packagedTemplate(packaged), await holdings(moto))
    this.#faults.push(...faults.map((fault) => `${when}: ${fault}`))
    return faults.length === 0
  }

  async #contract(at: Moto): Promise<number> {
    const { dir, signal, say } = this.#options
    const { passed, failed } = await runContract({ at, table: 'deploy-test-dev-fences', dir, signal, say })
    if (failed > 0) this.#faults.push(`the contract of the fence store: ${failed} tests fail on the deployed table`)
    return passed
  }

  #serverless(at: Moto, args: readonly string[]): Promise<void> {
    return serverless({ args, cwd: testService, at, signal: this.#options.signal })
  }

  /** Answers how many findings; what they are is told. */
  async #lint(programs: string, dir: string): Promise<number> {
    const { signal, say } = this.#options
    const args = ['--format', 'parseable', '--', templateFile(dir)]
    const { code, output } = await runCommand(join(programs, 'cfn-lint'), args, { signal })
    const findings = output.split('\n').filter((line) => line.trim() !== '')
    for (const finding of findings) say(finding)
    return code === 0 ? findings.length : Math.max(1, findings.length)
  }
}

/** By which the CLI knows a deployment: it is part of where its code was uploaded to. */
async function timestampOf(packaged: string): Promise<string> {
  const [timestamp] = /(?<=\/)\d{13}(?=-)/.exec(await readFile(templateFile(packaged), 'utf8')) ?? []
  if (timestamp === undefined) throw new Error(`${templateFile(packaged)} names no upload`)
  return timestamp
}
