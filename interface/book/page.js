const form=document.querySelector('form'),count=document.querySelector('#count'),none=document.querySelector('.none');
const entries=[...document.querySelectorAll('[data-papers]')]; // statements, and their rows in the contents
function show(){
  const paper=form.paper.value,verdict=form.verdict.value;
  for(const e of entries)
    e.hidden=!((!paper||e.dataset.papers.split(' ').includes(paper))&&(!verdict||e.dataset.verdict===verdict));
  const all=entries.filter(e=>e.localName==='article'),n=all.filter(e=>!e.hidden).length;
  const set=[paper&&'paper '+paper,verdict&&'verdict '+form.verdict.selectedOptions[0].text].filter(Boolean).join(', ');
  form.classList.toggle('filtered',set!=='');
  count.textContent=n+(n===1?' statement':' statements')+' shown'+(set?' of '+all.length+': '+set:'');
  none.hidden=n>0;
  reach();
}
function read(){ // the filters stand in the address, so that a link or a reload shows the same
  const wanted=new URLSearchParams(location.hash.slice(1)),target=document.getElementById(location.hash.slice(1));
  if(target){
    const entry=target.closest('article');
    if(entry&&entry.hidden){form.paper.value=form.verdict.value='';show();target.scrollIntoView();}
    return;
  }
  for(const key of ['paper','verdict']){
    const value=wanted.get(key)||'';
    form[key].value=[...form[key].options].some(o=>o.value===value)?value:'';
  }
  show();
}
function write(){
  const set=new URLSearchParams(['paper','verdict'].map(k=>[k,form[k].value]).filter(p=>p[1]));
  history.replaceState(null,'','#'+set);
  show();
}
function reach(){ // what must be scrolled sideways must be reached by the keyboard, and nothing else
  for(const f of document.querySelectorAll('.formula')){
    const wide=f.scrollWidth>f.clientWidth;
    for(const [key,value] of [['tabindex','0'],['role','group'],['aria-label','formula, scrolls sideways']])
      if(wide)f.setAttribute(key,value);else f.removeAttribute(key);
  }
}
form.addEventListener('change',write);
form.addEventListener('reset',()=>setTimeout(()=>{write();form.paper.focus();}));
form.addEventListener('submit',event=>event.preventDefault());
addEventListener('hashchange',read);
addEventListener('resize',reach);
document.addEventListener('toggle',reach,true);
addEventListener('beforeprint',()=>{
  document.querySelectorAll('details').forEach(d=>d.open=true);
  document.body.style.width='40rem'; // paper cannot be scrolled: what is wider than it is set smaller
  for(const f of document.querySelectorAll('.formula'))
    if(f.scrollWidth>f.clientWidth)
      for(const m of f.children)m.style.fontSize=f.clientWidth/f.scrollWidth+'rem';
  document.body.style.width='';
});
addEventListener('afterprint',()=>document.querySelectorAll('math').forEach(m=>m.style.fontSize=''));
show();
read();
