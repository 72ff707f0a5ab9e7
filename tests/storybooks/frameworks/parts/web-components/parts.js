import { LitElement, css, html, nothing } from 'lit';

class ShelfCounter extends LitElement {
  static properties = { clicks: { state: true } };

  constructor() {
    super();
    this.clicks = 0;
  }

  createRenderRoot() {
    return this; // queries of a play function do not look into shadows
  }

  render() {
    return html`<button @click=${() => (this.clicks += 1)}>clicked ${this.clicks}</button>`;
  }
}

/** Draws into its shadow, where no style of the page reaches. */
class ShelfSwatch extends LitElement {
  static properties = { entering: { type: Boolean } };

  static styles = css`
    div {
      width: 160px;
      height: 60px;
      background: #14a44d;
    }
    :host-context([data-theme='dark']) div {
      background: #1d2b53;
    }
    .entering {
      animation: enter 400ms ease;
    }
    @keyframes enter {
      from {
        opacity: 0;
        transform: translateX(200px);
      }
    }
  `;

  render() {
    return html`<div class=${this.entering ? 'entering' : nothing}></div>`;
  }
}

class ShelfPortal extends LitElement {
  connectedCallback() {
    super.connectedCallback();
    this.moved = document.createElement('div');
    Object.assign(this.moved, { className: 'marker portal', textContent: 'on the body' });
    document.body.append(this.moved);
  }

  disconnectedCallback() {
    this.moved.remove();
    super.disconnectedCallback();
  }
}

class ShelfFaulty extends LitElement {
  firstUpdated() {
    throw new Error('the effect fault was not caught');
  }
}

customElements.define('shelf-counter', ShelfCounter);
customElements.define('shelf-swatch', ShelfSwatch);
customElements.define('shelf-portal', ShelfPortal);
customElements.define('shelf-faulty', ShelfFaulty);

const faulty = () => {
  throw new Error('the render fault was not caught');
};

export const drawn = {
  swatch: () => html`<shelf-swatch></shelf-swatch>`,
  label: ({ text }, { loaded }) => html`<p class="marker">${loaded?.text ?? text}</p>`,
  counter: () => html`<shelf-counter></shelf-counter>`,
  faulty,
  faultyAfterwards: () => html`<shelf-faulty></shelf-faulty>`,
  nothing: () => html``,
  entrance: () => html`<shelf-swatch entering></shelf-swatch>`,
  portal: () => html`<shelf-portal></shelf-portal>`,
};
